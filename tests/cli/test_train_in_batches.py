"""``chebnet2d train`` with mini batches of nodes."""

import json

import pytest

import chebnet2d
from chebnet2d.models import GCN
from chebnet2d.training import Batches, fit
from cli_runner import run


class TestCommand:
    def test_train_in_batches(self):
        command = [
            "train",
            "digits",
            "--method",
            "gcn",
            "--epochs",
            "4",
            "--batch-size",
            "400",
            "--evaluate-every",
            "2",
            "--json",
        ]
        record = json.loads(run(*command).stdout)
        asked = {name: record["batches"][name] for name in ("size", "evaluate_every", "sampling")}
        assert asked == {"size": 400, "evaluate_every": 2, "sampling": "induced"}
        assert record["epochs"] == 4
        data = chebnet2d.data.load("digits")
        result = fit(
            GCN(data.num_features, 10), data, chebnet2d.data.split(data), batches=Batches(400, evaluate_every=2), epochs=4
        )
        assert record["test"]["accuracy"] == pytest.approx(result.test["accuracy"])
        assert json.loads(run("train", "digits", "--epochs", "1", "--json").stdout)["batches"] is None

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (["--sampling", "rows"], "train: --sampling must come with --batch-size, got it without."),
            (["--evaluate-every", "2"], "train: --evaluate-every must come with --batch-size"),
            (["--batch-size", "99", "--method", "glognn"], "got GloGNN, where every node needs all others"),
            (
                ["--batch-size", "99", "--method", "linkx", "--sampling", "induced"],
                "train: --sampling must be 'rows' for LINKX",
            ),
            (["--batch-size", "1", "--method", "gcn"], "train: --batch-size must be an integer >= 2, got 1."),
        ],
    )
    def test_wrong_calls(self, options, sentence):
        assert sentence in " ".join(run("train", "digits", *options, code=2).stderr.split())

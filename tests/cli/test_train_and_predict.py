"""``train``, ``predict`` and ``plot`` on an embedded dataset."""

import csv
import json

import pyarrow.parquet
import pytest
import torch

import chebnet2d
from cli_runner import run
from small_commands import QUICK


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "model"
    done = run("train", "digits", *QUICK, "--seed", 3, "--save", folder)
    return folder, done


def test_train_says_what_it_did(model):
    folder, done = model
    assert "split: uniform, seed 3" in done.stdout
    assert "test accuracy" in done.stdout
    assert str(folder) in done.stdout
    assert chebnet2d.load(folder).config["degree"] == 3


def test_train_json_is_one_object_and_nothing_else():
    done = run("train", "digits", *QUICK, "--json")
    record = json.loads(done.stdout)
    assert record["dataset"] == "digits"
    assert 0.5 < record["test"]["accuracy"] <= 1
    assert record["split"]["name"] == "uniform"
    data = chebnet2d.data.load("digits")
    fitted = chebnet2d.ChebNet2D(data.num_features, 10, hidden_channels=8, degree=3)
    again = chebnet2d.fit(fitted, data, chebnet2d.data.split(data, "uniform", seed=0), seed=0, epochs=30)
    assert record["test"]["accuracy"] == again.test["accuracy"], "the command is the library call"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_predict_writes_labels_and_probabilities(model, tmp_path, ending):
    folder, _ = model
    out = tmp_path / f"predictions.{ending}"
    run("predict", folder, "digits", "--out", out)
    if ending == "csv":
        with out.open() as file:
            rows = list(csv.DictReader(file))
    else:
        rows = pyarrow.parquet.read_table(out).to_pylist()
    expected = chebnet2d.load(folder).predict(chebnet2d.data.load("digits"))
    assert len(rows) == 1797
    assert [int(row["node"]) for row in rows[:3]] == [0, 1, 2]
    assert [int(row["label"]) for row in rows] == expected.labels.tolist()
    ours = torch.tensor([[float(row[f"probability_{c}"]) for c in range(10)] for row in rows])
    torch.testing.assert_close(ours, expected.probabilities, rtol=0, atol=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_plot_draws_the_grid(model, tmp_path):
    folder, _ = model
    out = tmp_path / "filters.png"
    assert str(out) in run("plot", folder, "--out", out).stdout
    assert out.read_bytes()[:4] == b"\x89PNG"
    assert json.loads(run("plot", folder, "--json").stdout)["out"] == str(folder / "filters.png")

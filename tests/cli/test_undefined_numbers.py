"""Runs that diverge and metrics that cannot be computed: the model is saved, and JSON is JSON."""

import json

import pytest

import chebnet2d
from chebnet2d.models import read_facts
from cli_runner import run
from small_commands import QUICK, small_graph


def strict(text):
    """As every other program reads it."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_a_run_that_diverged_says_so_and_is_saved(tmp_path):
    done = run("train", "csbm", *QUICK, "--lr", 1e30, "--save", tmp_path / "m", "--json")
    record = strict(done.stdout)
    assert record["val_loss"] is None
    assert record["diverged"] == 2
    assert done.stderr == (
        "chebnet2d: the run diverged: its loss is not a number from epoch 2 on. A lower learning rate may help.\n"
    )
    assert read_facts(tmp_path / "m")["val_loss"] is None
    assert isinstance(chebnet2d.load(tmp_path / "m"), chebnet2d.ChebNet2D)


def test_a_run_that_diverged_late_keeps_its_best_epoch(monkeypatch, tmp_path):
    from chebnet2d.training.learners import StackLearner

    step, calls = StackLearner.step, []

    def diverging(self, task, rows, shards):
        calls.append(1)
        return [float("nan")] if len(calls) > 5 else step(self, task, rows, shards)

    monkeypatch.setattr(StackLearner, "step", diverging)
    done = run("train", "csbm", "--epochs", 9, "--degree", 2)
    assert "the run diverged: its loss is not a number from epoch 6 on. Epoch " in done.stderr
    assert " is kept. " in done.stderr


def test_a_metric_that_cannot_be_computed(tmp_path, monkeypatch):
    """As of test nodes with one class: there is no ROC curve."""
    from chebnet2d.training.metrics.roc_auc import RocAuc

    monkeypatch.setattr(RocAuc, "score", lambda *_: float("nan"))
    graph = small_graph(tmp_path / "g")
    done = run("train", graph, *QUICK, "--save", tmp_path / "m", "--json")
    record = strict(done.stdout)
    assert record["test"]["roc_auc"] is None
    assert record["diverged"] is None
    assert read_facts(tmp_path / "m")["test"]["roc_auc"] is None
    assert "undefined" not in run("train", graph, *QUICK).stdout, "accuracy is the metric of this graph"


@pytest.mark.parametrize(
    "arguments", ["search csbm --method mlp --budget 2 --epochs 2 --splits 1 --range lr=1e30 --out {}/s.toml", "theory"]
)
def test_json_is_json(arguments, tmp_path, monkeypatch):
    if arguments == "theory":
        from chebnet2d.theory import TheoryReport

        monkeypatch.setattr("chebnet2d.theory.report", lambda **_: TheoryReport((), {}, {}, 0, float("nan")))
    strict(run(*arguments.format(tmp_path).split(), "--json", code=None).stdout)

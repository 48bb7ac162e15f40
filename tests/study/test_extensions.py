"""A metric, a method and an executor from outside: each is defined here, in one place, and a study runs with it."""

import itertools

import pytest
import torch

import chebnet2d
from chebnet2d.cluster import ProcessExecutor
from chebnet2d.reports import format_table, make_tables
from chebnet2d.study import DatasetCache, Protocol, make_plan, read_rows, run_study
from chebnet2d.training.metrics import METRICS, GatheredMetric, register_metric
from stored_tables import table_of

METHOD = """
from typing import ClassVar

import torch

from chebnet2d.models import MethodInfo, NodeClassifier
from chebnet2d.nn import Linear


class MyModel(NodeClassifier):
    info: ClassVar[MethodInfo] = MethodInfo(title="Mine", paradigm="-", basis="-", formula="Z = X W", citation="nobody")

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.linear = Linear(in_channels, out_channels)

    def forward(self, x, edge_index, edge_weight=None) -> torch.Tensor:
        return self.linear(x)
"""
SMALL = {"datasets": ("csbm",), "splits": 2, "inits": 1, "epochs": 3, "width": 1}


@pytest.fixture
def own_metric(monkeypatch):
    monkeypatch.setattr(METRICS, "_known", dict(METRICS))

    @register_metric("lowest_recall")
    class LowestRecall(GatheredMetric):
        def score(self, logits, y):
            hit = logits.argmax(dim=1) == y
            return float(torch.stack([hit[y == label].double().mean() for label in y.unique()]).min())


def test_a_metric(own_metric, tmp_path):
    run_study(Protocol(("mlp",), **SMALL), tmp_path / "s.sqlite")
    rows = read_rows(tmp_path / "s.sqlite")
    assert all(set(row["test"]) >= {"accuracy", "lowest_recall"} for row in rows)
    (table,) = make_tables(rows, metric="lowest_recall")
    mean = sum(row["test"]["lowest_recall"] for row in rows) / 2
    assert table.cells["mlp", "csbm"].summary.mean == pytest.approx(mean)
    assert "Test lowest recall in percent" in format_table(table)
    with pytest.raises(chebnet2d.InputError, match="rows of 'csbm' must have the metric 'luck', got accuracy, .*lowest_recall"):
        make_tables(rows, metric="luck")


@pytest.fixture
def own_method(tmp_path, monkeypatch):
    """A method in a file beside the protocol; the study is started from another folder."""
    folder = tmp_path / "methods"
    folder.mkdir()
    (folder / "my_file.py").write_text(METHOD)
    (folder / "p.toml").write_text(
        'methods = ["my_file.py:MyModel", "mlp"]\ndatasets = ["csbm"]\nsplits = 2\ninits = 1\nepochs = 3\n'
    )
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize("executor", [None, ProcessExecutor(1)], ids=["here", "elsewhere"])
def test_a_method(executor, own_method, tmp_path):
    protocol = Protocol.from_toml("methods/p.toml")
    assert protocol.methods == ("methods/my_file.py:MyModel", "mlp")
    run_study(protocol, tmp_path / "s.sqlite", executor=executor)
    rows = read_rows(tmp_path / "s.sqlite")
    assert [row["method"] for row in rows] == ["methods/my_file.py:MyModel"] * 2 + ["mlp"] * 2
    assert rows[0]["config"]["origin"] == "defaults of the class"
    assert rows[0]["parameters"] == chebnet2d.data.load("csbm").num_features * 3 + 3
    assert "| Mine |" in format_table(make_tables(rows))


def test_a_method_whose_file_has_changed_is_another_one(own_method):
    protocol = Protocol(("methods/my_file.py:MyModel", "mlp"), **SMALL)
    before = [unit.id for unit in make_plan(protocol, DatasetCache())]
    (own_method / "my_file.py").write_text(METHOD + "\n# changed\n")
    mine, mlp = (unit.id for unit in make_plan(protocol, DatasetCache()))
    assert (mine != before[0], mlp == before[1]) == (True, True)


class LastFirst:
    """Holds two tasks at a time, and does the later one first."""

    slots = 2

    def run(self, function, tasks, *, shared=None, seconds=None, report=None):
        held = []
        while True:
            held += itertools.islice(tasks, self.slots - len(held))
            if not held:
                return
            key, arguments = held.pop()
            yield key, function(shared, *arguments)


def test_an_executor(tmp_path):
    protocol = Protocol(("mlp", "gprgnn"), **{**SMALL, "splits": 6})
    lines = []
    run_study(protocol, tmp_path / "last-first.sqlite", executor=LastFirst(), log=lines.append)
    run_study(protocol, tmp_path / "here.sqlite")
    methods = [line.split(" on ")[0] for line in lines]
    assert methods == ["mlp", "gprgnn", "gprgnn", "mlp"]
    assert table_of(tmp_path / "last-first.sqlite") == table_of(tmp_path / "here.sqlite")

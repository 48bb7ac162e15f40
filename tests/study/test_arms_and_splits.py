"""Arms, a split for each dataset, numbers of splits, and graphs of the user's own."""

import re
from collections import Counter
from pathlib import Path

import pytest

import chebnet2d
from chebnet2d.data import CATALOGUE
from chebnet2d.recipes import load_recipe
from chebnet2d.reports import format_table, make_tables
from chebnet2d.study import Arm, DatasetCache, Protocol, make_plan, read_rows, read_trials, run_study, unpack_curve, unpack_labels

RESULTS = Path(__file__).parents[2] / "results"
ARMS = {
    "one": {"method": "one-filter", "model": {"coupling": "I", "degree": 2}},
    "all pairs": {"method": "one-filter", "model": {"degree": 2}, "settings": {"lr": 0.3}, "transform": "standardize"},
}
SHORT = {"splits": 2, "inits": 1, "epochs": 3}


def test_arms_are_run_and_shown_under_their_names(tmp_path):
    protocol = Protocol(("mlp",), ("csbm",), arms=ARMS, **SHORT)
    assert protocol.methods == ("mlp", "one", "all pairs")
    assert Protocol.from_json(protocol.to_json()) == protocol
    run_study(protocol, tmp_path / "s.sqlite")
    rows = read_rows(tmp_path / "s.sqlite")
    assert Counter(row["method"] for row in rows) == {"mlp": 2, "one": 2, "all pairs": 2}
    configs = {row["method"]: row["config"] for row in rows}
    assert configs["one"]["method"] == configs["all pairs"]["method"] == "one-filter"
    assert configs["one"]["model"]["coupling"] == "I"
    assert (configs["all pairs"]["settings"]["lr"], configs["all pairs"]["transform"]) == (0.3, "standardize")
    assert "| all pairs |" in format_table(make_tables(rows))


WRONG_ARMS = [
    ({"a": 3}, "arms.a must be a table with a method"),
    ({"a": {}}, "arms.a must have a method, got none"),
    ({"a": {"method": "gcn", "lr": 3}}, "a name in arms.a must be one of"),
    ({"a": {"method": "gnc"}}, "Did you mean 'gcn'"),
    ({"a:b": {"method": "gcn"}}, "the name of an arm must be a text without a colon"),
    ({"gcn": {"method": "mlp"}}, "arms.gcn must be of that method, whose name it has"),
    ({"a": {"method": "gcn", "model": 3}}, "arms.a.model must be a table"),
]


@pytest.mark.parametrize(("arms", "sentence"), WRONG_ARMS, ids=[sentence for _, sentence in WRONG_ARMS])
def test_wrong_arms(arms, sentence):
    with pytest.raises(chebnet2d.InputError) as caught:
        Protocol((), ("csbm",), arms=arms)
    assert sentence in str(caught.value)
    assert Arm.of("gcn", {"method": "gcn:faithful"}).method == "gcn:faithful"


def test_a_split_and_a_number_of_splits_for_each_dataset(tmp_path):
    split, limits = {"csbm": "balanced", "Digits": "uniform-50"}, {"digits": {"splits": 1}}
    protocol = Protocol(("mlp",), ("csbm", "digits"), split=split, limits=limits, **SHORT)
    assert Protocol.from_json(protocol.to_json()) == protocol
    run_study(protocol, tmp_path / "s.sqlite")
    found = Counter((row["dataset"], row["split"]) for row in read_rows(tmp_path / "s.sqlite"))
    assert found == {("csbm", "balanced"): 2, ("digits", "uniform-50"): 1}


@pytest.mark.parametrize(
    ("split", "sentence"),
    [
        ({"csbm": "uniform"}, "split must have a kind for each dataset of the study and for no other, got none for digits"),
        ({"csbm": "uniform", "digits": "uniform", "cora": "fixed"}, "for no other, got csbm, digits, cora"),
        ({"csbm": "uniform", "digits": "odd"}, "split must be one of"),
        ({"csbm": "uniform", "digits": "uniform", "Digits": "uniform"}, "split must be of different datasets"),
    ],
)
def test_wrong_splits(split, sentence):
    with pytest.raises(chebnet2d.InputError) as caught:
        Protocol(("mlp",), ("csbm", "digits"), split=split)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_papers_tables_have_the_papers_splits(number):
    protocol = Protocol.from_table(number)
    for dataset in protocol.datasets:
        assert protocol.kinds_on(dataset) == (CATALOGUE[dataset].split,)
    assert Protocol.from_table(number, split="balanced").split == "balanced"
    assert (number == 1) == (protocol.split == "uniform")


def test_a_graph_of_the_users_own_and_what_is_kept(tmp_path, monkeypatch):
    """It is known by its content: another graph at the same place is another study."""
    data = chebnet2d.data.csbm(nodes=80, seed=1)
    chebnet2d.data.write_graph(data, tmp_path / "mine.safetensors")
    (tmp_path / "p.toml").write_text(
        'methods = ["mlp"]\ndatasets = ["mine.safetensors", "csbm"]\n'
        'splits = 2\ninits = 1\nepochs = 3\nkeep = ["curves", "predictions"]\n'
    )
    protocol = Protocol.from_toml(tmp_path / "p.toml")
    assert protocol.datasets == (str(tmp_path / "mine.safetensors"), "csbm")
    run_study(protocol, tmp_path / "s.sqlite")
    rows = read_rows(tmp_path / "s.sqlite")
    assert Counter(row["dataset"] for row in rows) == dict.fromkeys(protocol.datasets, 2)
    for row in rows:
        curve, labels = unpack_curve(row["curve"]), unpack_labels(row["predictions"])
        assert len(curve) == row["epochs"] == 3
        assert max(curve) == pytest.approx(row["val_metric"], abs=1e-4)
        graph = chebnet2d.data.load_graph(row["dataset"])
        split = chebnet2d.data.split(graph, "uniform", seed=row["split_seed"])
        right = sum(int(graph.y[node]) == label for node, label in zip(split.test, labels, strict=True))
        assert right / len(labels) == pytest.approx(row["test"]["accuracy"])
    before = {unit.id for unit in make_plan(protocol, DatasetCache())}
    chebnet2d.data.write_graph(chebnet2d.data.csbm(nodes=80, seed=2), tmp_path / "mine.safetensors")
    after = {unit.id for unit in make_plan(protocol, DatasetCache())}
    assert len(before & after) == 1, "that of the other dataset"
    (tmp_path / "elsewhere").mkdir()
    chebnet2d.data.write_graph(data, tmp_path / "elsewhere" / "mine.safetensors")
    monkeypatch.chdir(tmp_path / "elsewhere")
    moved = Protocol(("mlp",), ("mine.safetensors", "csbm"), **SHORT)
    assert moved.datasets[0] == str(tmp_path / "elsewhere" / "mine.safetensors"), "workers may be elsewhere"
    assert {unit.id for unit in make_plan(moved, DatasetCache())} == before, "where it lies does not matter"
    assert not read_trials(tmp_path / "s.sqlite")


@pytest.mark.parametrize("name", ["table1", "table2", "table3"])
def test_the_protocols_of_the_tables_can_be_read(name):
    protocol = Protocol.from_toml(RESULTS / f"{name}.toml")
    assert Protocol.from_json(protocol.to_json()) == protocol
    if name == "table3":
        assert len(protocol.methods) == 8
        assert [len(protocol.split_seeds(d)) for d in ("cora", "pubmed", "photo", "computers")] == [10, 5, 5, 5]


def test_settings_that_were_searched_before_are_no_start():
    """Their cost is counted nowhere."""
    assert load_recipe("chebnet2d", "cora").origin.startswith("found by search")
    protocol = Protocol.from_toml(RESULTS / "table1.toml")
    for method in protocol.methods:
        for dataset in protocol.datasets:
            assert not protocol.recipe(method, dataset).origin.startswith("found by search")


def test_the_protocol_on_the_page_runs(tmp_path):
    page = (RESULTS.parent / "docs" / "study.md").read_text(encoding="utf-8")
    (text,) = (block for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "[search]" in block)
    (tmp_path / "p.toml").write_text(text)
    run_study(Protocol.from_toml(tmp_path / "p.toml"), tmp_path / "s.sqlite")
    assert Counter(row["method"] for row in read_rows(tmp_path / "s.sqlite")) == {"mlp": 6, "2-D": 6}
    assert Counter(row["method"] for row in read_trials(tmp_path / "s.sqlite")) == {"mlp": 18, "2-D": 18}

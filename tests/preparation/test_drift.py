"""What has moved since the training is told, and nothing where nothing has."""

import copy

import numpy as np
import pyarrow as pa
import pytest
import torch

import chebnet2d
from chebnet2d import InputError
from chebnet2d.data import from_tables
from chebnet2d.models import LINKX, SeenNodes
from chebnet2d.models.chebnet2d_plus import ChebNet2DPlus
from chebnet2d.models.estimators.logistic import Logistic
from cli_runner import run
from messy_tables import messy_graph

RNG = np.random.default_rng(0)
NODES = pa.table({"id": range(200), "age": RNG.normal(40, 10, 200), "city": ["Graz", "Wien"] * 100, "label": ["a", "b"] * 100})
EDGES = pa.table({"a": RNG.integers(0, 200, 600), "b": RNG.integers(0, 200, 600)})


def drift(nodes=NODES, edges=EDGES):
    preparation = from_tables(NODES, EDGES).preparation
    return list(preparation.applied(from_tables(nodes, edges, preprocess="standard"))[1].drift)


def changed(name, values):
    return NODES.set_column(NODES.column_names.index(name), name, pa.array(values))


def test_the_same_graph_has_none():
    assert drift() == []


def test_a_mean_moves_by_deviations():
    age = NODES.column("age").to_numpy()
    assert drift(changed("age", age + 2 * age.std())) == ["drift of features: age +2.0 deviations"]
    assert drift(changed("age", age + 0.4 * age.std())) == []


def test_shares_of_categories_move():
    (line,) = drift(changed("city", ["Graz"] * 150 + ["Rom"] * 50))
    assert line == "drift of features: city=Wien 50 % -> 0 %; city=Graz 50 % -> 75 %"


def test_degrees_move():
    (line,) = drift(edges=EDGES.slice(0, 100))
    assert line.startswith("drift of the graph: ")
    assert "neighbours of a node in the mean" in line


def test_predict_tells_of_new_nodes_and_drift(tmp_path):
    run("train", messy_graph(tmp_path / "g", 120), "--epochs", 5, "--save", tmp_path / "m")
    later = messy_graph(tmp_path / "later", 150, seed=3, later=True)
    done = run("predict", tmp_path / "m", later, "--out", tmp_path / "p.csv")
    assert "drift of features: flag is missing" in done.stdout
    assert "nodes: 30 of 150 are new, 0 of the training graph are gone" in done.stdout
    assert '"new"' in (tmp_path / "p.csv").read_text(encoding="utf-8")
    again = run("predict", tmp_path / "m", tmp_path / "g", "--out", tmp_path / "p.csv")
    assert "drift" not in again.stdout
    assert "are new" not in again.stdout


@pytest.mark.parametrize("method", ["linkx", "glognn", "chebnet2d-plus"])
def test_methods_bound_to_nodes_refuse_another_graph(method, tmp_path):
    graph = messy_graph(tmp_path / "g", 60)
    done = run("train", graph, "--method", method, "--epochs", 3, "--save", tmp_path / "m")
    assert f"note: {method} holds numbers for each node" in done.stdout
    run("predict", tmp_path / "m", graph, "--out", tmp_path / "p.csv")
    other = messy_graph(tmp_path / "other", 60, seed=1)
    text = (other / "nodes.csv").read_text(encoding="utf-8") + (other / "edges.csv").read_text()
    assert "p0007" in text
    for file in ("nodes.csv", "edges.csv"):
        (other / file).write_text((other / file).read_text(encoding="utf-8").replace("p0007", "q0007"), encoding="utf-8")
    done = run("predict", tmp_path / "m", other, "--out", tmp_path / "q.csv", code=2)
    assert "got 1 new nodes and 1 that are gone. It holds numbers for each node of that graph" in done.stderr
    with pytest.raises(InputError, match="predict: the graph must be the one that"):
        chebnet2d.load(tmp_path / "m").predict(chebnet2d.data.read_graph(other))


def test_seen_nodes_know_their_parts_whatever_the_type_of_ids():
    split = chebnet2d.data.make_split("given", 0, [0, 3], [1], [4])
    seen = SeenNodes(np.arange(6), split)
    expected = ["train", "val", None, "train", "test", None]
    saved = SeenNodes.from_tensors(copy.deepcopy(seen.tensors()))
    for ids in (np.arange(6), [str(k) for k in range(6)], np.array([str(k) for k in range(6)], dtype=object)):
        assert seen.part_of(ids) == saved.part_of(ids) == expected
    assert seen.part_of(["5", "06", "x"]) == [None, "new", "new"]
    assert seen.changes([4, 5, 6]) == (1, 4)
    words = SeenNodes(np.array(["a", "ü", "-3"], dtype=object), chebnet2d.data.make_split("given", 0, [0], [1], [2]))
    assert words.part_of(["-3", "ü", "a"]) == ["test", "val", "train"]
    assert words.part_of(np.array([-3])) == ["test"]


@pytest.mark.parametrize(
    "model",
    [
        lambda data: Logistic(32, 3, inputs="labels"),
        lambda data: ChebNet2DPlus(32, 3, data.num_nodes, hidden_channels=8, rows=False),
    ],
)
def test_labels_of_neighbours_are_found_by_id(model, tmp_path):
    """On a graph with the nodes in another order, and on one with a new node and one that is gone."""
    data = chebnet2d.data.load("csbm", nodes=90)
    data.node_ids = np.array([f"n{k}" for k in range(90)], dtype=object)
    built = model(data)
    assert not built.bound_to_nodes
    split = chebnet2d.data.split(data, "uniform", seed=0)
    chebnet2d.fit(built, data, split, epochs=5)
    chebnet2d.save(built, tmp_path)
    loaded = chebnet2d.load(tmp_path)
    first = built.predict(data).probabilities
    order = torch.randperm(90, generator=torch.Generator().manual_seed(0))
    moved = data.clone()
    moved.x, moved.node_ids = data.x[order], data.node_ids[order.numpy()]
    moved.edge_index = torch.argsort(order)[data.edge_index]
    for one in (built, loaded):
        assert torch.allclose(one.predict(moved).probabilities, first[order], atol=1e-5)
        assert torch.equal(one.predict(data).probabilities, first), "the labels that it knows are as before"
    later, gone = data.clone(), int(split.train[0])  # whose label is not known any more: an unknown node has its place
    later.node_ids = np.where(np.arange(90) == gone, "new", data.node_ids)
    forgotten = loaded.predict(later).probabilities
    neighbours = data.edge_index[1][data.edge_index[0] == gone]
    assert not torch.allclose(forgotten[neighbours], first[neighbours], atol=1e-6)


def test_numbers_of_nodes_hold_for_their_order_alone():
    data = chebnet2d.data.load("csbm", nodes=60)
    data.node_ids = np.arange(60)
    model = LINKX(32, 3, 60, hidden_channels=8)
    chebnet2d.fit(model, data, chebnet2d.data.split(data, "uniform", seed=0), epochs=2)
    data.node_ids = data.node_ids[::-1].copy()
    with pytest.raises(InputError, match="got its nodes in another order"):
        model.predict(data)

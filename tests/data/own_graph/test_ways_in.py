"""Other ways in: saved data, networkx, GraphML, paths and long files."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.data import Data

from chebnet2d.data.own_graph import is_graph_path, write_graph
from graph_writers import Example, as_text, raw_networkx, read_raw, write_rows


def test_saved_data_comes_back_whole(tmp_path: Path) -> None:
    data = Data(x=torch.rand(4, 3), edge_index=torch.tensor([[0, 1], [3, 2]]), y=torch.tensor([1, 0, -1, 1]))
    data.train_mask = torch.tensor([True, False, False, True])
    data.note, data.numbers, data.nothing = "über", [1, 2.5, "x"], None
    path = write_graph(data, tmp_path / "graph.safetensors")
    again = read_raw(path)
    for key in ("x", "edge_index", "y", "train_mask"):
        assert torch.equal(again[key], data[key])
    assert (again.note, again.numbers, again.name, again.class_names) == ("über", [1, 2.5, "x"], "graph", ["0", "1"])
    assert again.node_ids.tolist() == [0, 1, 2, 3]
    assert [entry.name for entry in tmp_path.iterdir()] == ["graph.safetensors"]
    assert write_graph(again, tmp_path / "b.safetensors").read_bytes() == write_graph(again, path).read_bytes()


def test_networkx_features_in_every_form() -> None:
    graph = nx.Graph(name="friends")
    graph.add_node("b", v=np.array([1.0, 2.0]), n=1, colour="red", label="x")
    graph.add_node("a", v=torch.tensor([3.0, 4.0]), n=2, colour="blue")
    graph.add_edge("b", "a")
    assert raw_networkx(graph, ["v", "n"]).x.tolist() == [[3, 4, 2], [1, 2, 1]]
    assert raw_networkx(graph, "n").x.tolist() == [[2], [1]]
    everything = raw_networkx(graph, categorical="one-hot")
    assert everything.x.tolist() == [[3, 4, 2, 1, 0], [1, 2, 1, 0, 1]]
    assert everything.name == "friends"
    assert everything.y.tolist() == [-1, 0]
    assert raw_networkx(graph, "degree").x.tolist() == [[1], [1]]
    # A matrix has its rows in the order of graph.nodes.
    for matrix in (np.array([[7.0], [8.0]]), torch.tensor([[7.0], [8.0]]), scipy.sparse.csr_array([[7.0], [8.0]])):
        assert raw_networkx(graph, matrix).x.to_dense().tolist() == [[8], [7]]
    assert raw_networkx(nx.relabel_nodes(graph, {"a": (0, 1), "b": (1, 0)}), "n").node_ids.tolist() == ["(0, 1)", "(1, 0)"]


def test_graphml_with_features_of_its_own(tmp_path: Path) -> None:
    graph = nx.Graph([("a", "b")])
    graph.nodes["a"]["label"] = "x"
    nx.write_graphml(graph, tmp_path / "g.graphml")
    (tmp_path / "f.csv").write_text("id,f\nb,1\na,2\n")
    data = read_raw(tmp_path / "g.graphml", features=tmp_path / "f.csv")
    assert data.x.tolist() == [[2], [1]]
    assert data.y.tolist() == [0, -1]
    assert read_raw(tmp_path / "g.graphml", features="degree").x.tolist() == [[1], [1]]


def test_what_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "cora").mkdir()
    (tmp_path / "mine" / "edges.tsv").write_text("0\t1\n")
    for text in ("mine", "./cora", "cora/", "a/b", "~/g", "graph.npz", "g.GraphML", "edges.csv", "old.pt"):
        assert is_graph_path(text), text
    for text in ("cora", "ogbn-arxiv", "Twitch-gamers", "", "csbm"):
        assert not is_graph_path(text), text


def test_the_result_fits_the_rest_of_the_library(tmp_path: Path) -> None:
    from chebnet2d.graph import adjacency

    as_text(tmp_path, Example(["b", "a", "c"], [[1], [2], [3]], ["x", "y", None], [("a", "b"), ("c", "b")], [2, 3]), "csv")
    data = read_raw(tmp_path)
    assert data.validate()
    operator = adjacency(data.edge_index, data.edge_weight, data.num_nodes)
    np.testing.assert_array_equal(operator.to_scipy().toarray(), [[0, 2, 0], [2, 0, 3], [0, 3, 0]])


def test_a_long_file_is_read_in_blocks(tmp_path: Path) -> None:
    """Several blocks of pyarrow. Most line breaks are inside quotes, so that some block would end at one of those."""
    random = np.random.default_rng(0)
    ids = np.array([f"{i}\n\n\n," for i in range(2000)], dtype=object)
    ends = random.integers(0, len(ids), (200_000, 2))
    path = write_rows(tmp_path / "edges.csv", ["source", "target"], [[ids[a], ids[b]] for a, b in ends])
    assert path.stat().st_size > 2**22
    data = read_raw(path, features="identity")
    np.testing.assert_array_equal(data.node_ids[data.edge_index.numpy()], ids[ends.T])

"""Writing graphs, what is checked when they come back, and wrong graphs of networkx."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.data import Data

from chebnet2d import InputError
from chebnet2d.data.own_graph import from_networkx, read_graph, write_graph
from file_contents import snapshot
from graph_writers import raw_networkx, read_raw


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"edge_index": None}, "write_graph: data must be a torch_geometric Data with edge_index, got"),
        ({"helper": object()}, "write_graph: helper must be a tensor, a string, a number, or a list of these, got <object"),
        ({"pair": (1, 2)}, "write_graph: pair must be a tensor, a string, a number, or a list of these, got \\(1, 2\\)"),
        ({"rows": np.array([None, 1])}, "write_graph: rows must be an array of numbers or of strings, got ndarray"),
        ({"a.b": "c"}, "write_graph: data must be made of attributes without a dot in their names, got 'a.b'"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    data = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))
    for key, value in change.items():
        data[key] = value
    with pytest.raises(InputError, match=sentence):
        write_graph(data, tmp_path / "g.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_breaks_off_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))
    path = write_graph(data, tmp_path / "g.safetensors")
    before = path.read_bytes()

    def full(tensors: Any, name: str, metadata: Any) -> None:
        Path(name).write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr("chebnet2d.data.own_graph.writing.save_file", full)
    with pytest.raises(OSError, match="No space left"):
        write_graph(data, path)
    assert snapshot(tmp_path) == {"g.safetensors": before}
    with pytest.raises(InputError, match=r"path must be a file with the suffix \.safetensors, got '"):
        write_graph(data, tmp_path / "g.pt")
    with pytest.raises(InputError, match="path must be in a folder that exists"):
        write_graph(data, tmp_path / "no" / "g.safetensors")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": torch.tensor([0, 5])}, "y must be from -1 to 1"),
        ({"y": torch.tensor([0.5, 1])}, "y must hold class indices"),
        ({"y": torch.tensor([0])}, "y must have one label for each of the 2 nodes"),
        ({"x": torch.tensor([[1.0], [float("nan")]])}, "x in row 1, column 0 \\(from 0\\) must have a value"),
        ({"x": torch.tensor([[1.0], [float("inf")]])}, "x in row 1, column 0 \\(from 0\\) must be a finite number, got inf"),
        ({"x": None}, "features must come from somewhere"),
        ({"edge_index": torch.tensor([[0], [2]])}, "edge_index must be below the number of nodes, 2, got 2"),
        ({"edge_weight": torch.tensor([-1.0])}, "edge_weight must be finite numbers >= 0, got -1.0 at edge 0"),
        ({"node_ids": np.array(["a", "a"])}, "ids must be distinct, got 'a' more than once"),
        ({"class_names": "ab"}, "class_names must be a list of strings, got 'ab'"),
    ],
)
def test_saved_graphs_are_checked_when_they_are_read(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    data = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([0, 1]), class_names=["a", "b"])
    for key, value in change.items():
        data[key] = value
    path = write_graph(data, tmp_path / "g.safetensors")
    with pytest.raises(InputError, match=f"g.safetensors: {sentence}"):
        read_raw(path)


def test_sparse_parts_of_a_saved_graph_are_checked(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    matrix = scipy.sparse.csr_array(np.eye(2))
    header = json.dumps({"version": 1, "attributes": {"x.shape": [2, 1]}})
    parts = {
        "edge_index": torch.tensor([[0], [1]]),
        "x.crow": torch.from_numpy(matrix.indptr),
        "x.col": torch.from_numpy(matrix.indices),
        "x.values": torch.from_numpy(matrix.data),
    }
    save_file(parts, tmp_path / "g.safetensors", metadata={"chebnet2d_graph": header})
    with pytest.raises(InputError, match="x must be the parts of a CSR matrix that fit each other, got: "):
        read_graph(tmp_path / "g.safetensors")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {},
            "graph, node 'a': column 'colour' must be a number, got 'red'. Encode a column of words as 'one-hot'",
        ),
        ({"features": "f"}, "graph, node 'b': column 'f' must have a value, got none"),
        ({"features": ["height"]}, "from_networkx: features must be attributes of nodes, got 'height', which no node has"),
        ({"features": np.eye(3)}, "from_networkx: features must have a row for each of the 2 nodes, got 3"),
        ({"features": np.array(["a", "b"])}, "from_networkx: features must be a matrix with a row for each node, got shape"),
        ({"features": "degree", "weight": "length"}, "graph, edge ('a', 'b'): weight must be a finite number >= 0, got 'far'"),
        ({"features": "degree", "weight": "cost"}, "graph, edge ('a', 'b'): weight must be a finite number >= 0, got -1"),
        ({"features": "odd"}, "graph, node 'b': odd must be a number, text or a vector, as elsewhere, got {1}"),
    ],
)
def test_networkx_errors_name_the_node(arguments: dict[str, Any], sentence: str) -> None:
    graph = nx.Graph()
    graph.add_node("a", colour="red", f=1, odd=1)
    graph.add_node("b", colour="blue", odd={1})
    graph.add_edge("a", "b", length="far", cost=-1)
    if not arguments:
        del graph.nodes["a"]["odd"], graph.nodes["b"]["odd"], graph.nodes["a"]["f"]
    with pytest.raises(InputError) as caught:
        raw_networkx(graph, **arguments)
    assert str(caught.value).startswith(sentence)


def test_networkx_needs_a_graph_with_features() -> None:
    with pytest.raises(InputError, match="from_networkx: graph must be a networkx graph, got 5"):
        from_networkx(5)
    with pytest.raises(InputError, match="features must come from somewhere, got none.*'degree'"):
        from_networkx(nx.path_graph(3))

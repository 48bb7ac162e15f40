"""A graph of the user's gives the same tensors through every format; the truth is a loop over plain Python lists."""

import csv
import doctest
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from chebnet2d.data.own_graph import from_networkx, is_graph_path, read_graph, write_graph


@dataclass
class Example:
    """A graph as a person has it: ids, rows in any order, None for what is missing."""

    ids: list[Any]
    x: list[list[float | None]]
    labels: list[Any]
    edges: list[tuple[Any, Any]]
    weights: list[float] | None


def truth(example: Example, missing: str) -> dict[str, Any]:
    """What the definition says, one node at a time."""
    as_integers = all(isinstance(i, int) or str(i) == str(_integer(i)) for i in example.ids)
    key = int if as_integers else str
    order = sorted(range(len(example.ids)), key=lambda k: key(example.ids[k]))
    number = {key(example.ids[k]): n for n, k in enumerate(order)}
    width = len(example.x[0])
    columns = [[row[c] for row in example.x if row[c] is not None] for c in range(width)]
    fill = [math.fsum(column) / len(column) if column and missing == "mean" else 0.0 for column in columns]
    x = [[fill[c] if value is None else value for c, value in enumerate(example.x[k])] for k in order]
    named = {label for label in example.labels if label is not None}
    classes = sorted(named, key=lambda label: label if all(isinstance(n, int) for n in named) else str(label))
    return {
        "ids": [key(example.ids[k]) for k in order],
        "x": np.array(x, dtype=np.float32).reshape(len(order), width),
        "y": [-1 if example.labels[k] is None else classes.index(example.labels[k]) for k in order],
        "class_names": [str(label) for label in classes],
        "edge_index": [[number[key(edge[side])] for edge in example.edges] for side in (0, 1)],
    }


def _integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def assert_same(data: Any, expected: dict[str, Any], weights: list[float] | None) -> None:
    assert list(data.node_ids) == expected["ids"]
    x = data.x if data.x.layout == torch.strided else data.x.to_dense()
    assert x.dtype == torch.float32
    np.testing.assert_allclose(x.numpy(), expected["x"], rtol=1e-6, atol=1e-6)
    assert data.y.dtype == torch.int64
    assert data.y.tolist() == expected["y"]
    assert data.class_names == expected["class_names"]
    assert data.num_classes == len(expected["class_names"])
    assert data.edge_index.dtype == torch.int64
    assert data.edge_index.tolist() == expected["edge_index"]
    assert data.num_nodes == len(expected["ids"])
    assert data.metric == "accuracy"
    if weights is None:
        assert data.get("edge_weight") is None
    else:
        assert data.edge_weight.dtype == torch.float32
        np.testing.assert_array_equal(data.edge_weight.numpy(), np.array(weights, dtype=np.float32))


# ---- writers, one for each format ---------------------------------------------------------------------------
def write_rows(path: Path, header: list[str] | None, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        for row in ([header] if header else []) + rows:
            writer.writerow(["" if value is None else value for value in row])
    return path


def edge_rows(example: Example) -> tuple[list[str], list[list[Any]]]:
    if example.weights is None:
        return ["source", "target"], [list(edge) for edge in example.edges]
    return ["source", "target", "weight"], [[*edge, w] for edge, w in zip(example.edges, example.weights, strict=True)]


def feature_names(example: Example) -> list[str]:
    return [f"f{c}" for c in range(len(example.x[0]))]


def as_text(folder: Path, example: Example, suffix: str) -> dict[str, Path]:
    """Three files, the labels in the opposite order and without the nodes that have none."""
    header, rows = edge_rows(example)
    labelled = [[i, label] for i, label in zip(example.ids, example.labels, strict=True) if label is not None]
    return {
        "edges": write_rows(folder / f"edges.{suffix}", header, rows),
        "features": write_rows(
            folder / f"features.{suffix}",
            ["id", *feature_names(example)],
            [[i, *row] for i, row in zip(example.ids, example.x, strict=True)],
        ),
        "labels": write_rows(folder / f"labels.{suffix}", ["node", "label"], labelled[::-1]),
    }


def as_parquet(folder: Path, example: Example) -> Path:
    """One table of nodes with everything."""
    header, rows = edge_rows(example)
    columns = list(zip(*rows, strict=True)) if rows else [[] for _ in header]
    kind = pa.int64() if all(isinstance(i, int) for i in example.ids) else pa.string()
    types = [kind, kind, pa.float64()]
    pq.write_table(
        pa.table({n: pa.array(list(c), t) for n, c, t in zip(header, columns, types, strict=False)}), folder / "edges.parquet"
    )
    nodes: dict[str, Any] = {"id": pa.array(example.ids, kind), "class": pa.array(example.labels)}
    for c, name in enumerate(feature_names(example)):
        nodes[name] = pa.array([row[c] for row in example.x], pa.float64())
    pq.write_table(pa.table(nodes), folder / "nodes.parquet")
    return folder


def numbered(example: Example, expected: dict[str, Any]) -> dict[str, Any]:
    """The graph with node numbers, NaN for what is missing: what the array formats hold."""
    rank = {str(i): n for n, i in enumerate(expected["ids"])}
    order = sorted(range(len(example.ids)), key=lambda k: rank[str(example.ids[k])])
    x = np.array([[math.nan if v is None else v for v in example.x[k]] for k in order]).reshape(len(order), len(example.x[0]))
    text = any(isinstance(label, str) for label in example.labels)
    missing: Any = "" if text else -1
    y = [missing if example.labels[k] is None else example.labels[k] for k in order]
    ids = expected["ids"]
    arrays: dict[str, Any] = {
        "edge_index": np.array(expected["edge_index"], dtype=np.int64).reshape(2, -1),
        "y": np.array(y, dtype=str if text else np.int64),
        "ids": np.array(ids, dtype=np.int64 if isinstance(ids[0], int) else str),
    }
    if example.weights is not None:
        arrays["edge_weight"] = np.array(example.weights, dtype=np.float64)
    return {"x": x, "arrays": arrays}


def as_npz(folder: Path, example: Example, expected: dict[str, Any], sparse: bool) -> Path:
    parts = numbered(example, expected)
    path = folder / f"graph-{sparse}.npz"
    if not sparse:
        np.savez(path, x=parts["x"], **parts["arrays"])
        return path
    matrix = scipy.sparse.csr_array(parts["x"])
    np.savez(
        path,
        x_data=matrix.data,
        x_indices=matrix.indices,
        x_indptr=matrix.indptr,
        x_shape=np.array(matrix.shape),
        **parts["arrays"],
    )
    return path


def as_networkx(example: Example) -> Any:
    graph = nx.MultiDiGraph()
    for i, row, label in zip(example.ids, example.x, example.labels, strict=True):
        attributes: dict[str, Any] = {name: v for name, v in zip(feature_names(example), row, strict=True) if v is not None}
        graph.add_node(i, **attributes, **({} if label is None else {"label": label}))
    for k, (a, b) in enumerate(example.edges):
        graph.add_edge(a, b, **({} if example.weights is None else {"weight": example.weights[k]}))
    return graph


# ---- the property -------------------------------------------------------------------------------------------
WORDS = st.text(
    st.characters(
        codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs"), include_characters=" ,;\"'\t", max_codepoint=0x2FFFF
    ),
    min_size=1,
    max_size=6,
).filter(lambda text: text == text.strip() and text == " ".join(text.split("\t")) and text not in ("", "nan", "NaN"))
NUMBERS = st.floats(-1e6, 1e6, width=32, allow_subnormal=False)


@st.composite
def examples(draw: st.DrawFn) -> Example:
    kind = draw(st.sampled_from([st.integers(-5, 10**12), WORDS, st.integers(0, 999).map(lambda n: f"{n:03d}")]))
    ids = draw(st.lists(kind, min_size=1, max_size=8, unique_by=str))
    width = draw(st.integers(1, 3))
    # A column without any value has no type in some formats: the first row is complete.
    value = st.one_of(NUMBERS, st.none())
    x = [draw(st.lists(NUMBERS if k == 0 else value, min_size=width, max_size=width)) for k in range(len(ids))]
    names = draw(st.sampled_from([st.integers(0, 50), WORDS.filter(lambda w: not w[0].isdigit() and w[0] not in "+-.")]))
    labels = draw(st.lists(st.one_of(st.none(), names), min_size=len(ids), max_size=len(ids)))
    edges = draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=10))
    weights = draw(st.one_of(st.none(), st.lists(st.floats(0, 100, width=32), min_size=len(edges), max_size=len(edges))))
    if not edges:
        weights = None
    return Example(ids, x, labels, edges, weights)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(example=examples(), missing=st.sampled_from(["zero", "mean"]))
def test_every_format_gives_the_same_tensors(tmp_path_factory: pytest.TempPathFactory, example: Example, missing: str) -> None:
    folder = tmp_path_factory.mktemp("graph")
    expected = truth(example, missing)
    found = {}
    for suffix in ("csv", "tsv"):
        (folder / suffix).mkdir()
        as_text(folder / suffix, example, suffix)
        found[suffix] = read_graph(folder / suffix, missing_features=missing)
    (folder / "parquet").mkdir()
    found["parquet"] = read_graph(as_parquet(folder / "parquet", example), missing_features=missing)
    for sparse in (False, True):
        found[f"npz, sparse {sparse}"] = read_graph(as_npz(folder, example, expected, sparse), missing_features=missing)
    found["networkx"] = from_networkx(as_networkx(example), feature_names(example), missing_features=missing)
    for source in ("csv", "npz, sparse True"):
        found[f"safetensors of {source}"] = read_graph(write_graph(found[source], folder / "graph.safetensors"))
    for name, data in found.items():
        if name == "networkx":  # which lists its edges by source
            assert sorted(data.edge_index.T.tolist()) == sorted(map(list, zip(*expected["edge_index"], strict=True)))
            data.edge_index, data.edge_weight = found["csv"].edge_index, found["csv"].get("edge_weight")
        assert_same(data, expected, example.weights)


XML = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_categories=("Cs", "Cc", "Cn", "Zs")), min_size=1, max_size=5
)


@settings(max_examples=25, deadline=None)
@given(
    ids=st.lists(XML, min_size=1, max_size=6, unique=True),
    seed=st.integers(0, 2**32 - 1),
    directed=st.booleans(),
)
def test_graphml_as_networkx_writes_it_equals_networkx(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], seed: int, directed: bool
) -> None:
    random = np.random.default_rng(seed)
    graph = nx.DiGraph() if directed else nx.Graph()
    for i in ids:
        graph.add_node(i, f=float(random.standard_normal()), count=int(random.integers(9)), flag=bool(random.integers(2)))
        if random.random() < 0.7:
            graph.nodes[i]["label"] = ["red", "grün", "a & b"][random.integers(3)]
    for _ in range(2 * len(ids)):
        a, b = random.choice(ids, 2)
        graph.add_edge(str(a), str(b), weight=float(random.random()))
    path = tmp_path_factory.mktemp("graphml") / "graph.graphml"
    nx.write_graphml(graph, path)
    read, direct = read_graph(path), from_networkx(graph)
    for key in ("x", "y", "edge_index", "edge_weight"):
        torch.testing.assert_close(read[key], direct[key], rtol=0, atol=0)
    assert list(read.node_ids) == list(direct.node_ids)
    assert read.class_names == direct.class_names
    assert read.feature_names == direct.feature_names == ["f", "count", "flag"]


# ---- headers and columns ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "arguments", "edges", "weights"),
    [
        ("source,target\n0,1\n2,0\n", {}, [(0, 1), (2, 0)], None),
        ("src;dst\n0;1\n", {}, [(0, 1)], None),
        ("Weight,To,From\n0.5,1,0\n", {}, [(0, 1)], [0.5]),
        ("node_1,node_2,w\n0,1,3\n", {}, [(0, 1)], [3.0]),
        ("u\tv\n0\t1\n", {}, [(0, 1)], None),
        ("0,1\n2,0\n", {}, [(0, 1), (2, 0)], None),
        ("0,1,0.5\n2,0,7\n", {}, [(0, 1), (2, 0)], [0.5, 7.0]),
        ("paper,cites\n0,1\n", {}, [(0, 1)], None),
        ("paper,cites,note\n0,1,x\n", {}, [(0, 1)], None),
        ("paper,cites,note\n0,1,x\n", {"source": "cites", "target": "paper"}, [(1, 0)], None),
        ("a,b,c\n0,1,5\n", {"weight": "c"}, [(0, 1)], [5.0]),
        ("7,0,1\n8,2,0\n", {"source": "1", "target": "2"}, [(0, 1), (2, 0)], None),
        ("source, target\n0, 1\n\n2, 0\n", {}, [(0, 1), (2, 0)], None),
        ("\ufeffsource,target\n0,1\n", {}, [(0, 1)], None),
        ('source,target\r\n"0","1"\r\n', {}, [(0, 1)], None),
        ("source,target\n", {}, [], None),
        ("3,4\n0,1\n", {"header": True}, [(0, 1)], None),
    ],
)
def test_edge_columns_are_recognised_or_named(tmp_path: Path, text: str, arguments: Any, edges: Any, weights: Any) -> None:
    (tmp_path / "edges.csv").write_text(text, encoding="utf-8")
    np.save(tmp_path / "features.npy", np.eye(3))
    data = read_graph(tmp_path, **arguments)
    assert data.edge_index.T.tolist() == [list(edge) for edge in edges]
    assert (data.edge_weight.tolist() if "edge_weight" in data else None) == weights


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("ann,bob\nbob,cid\n", ["ann", "bob", "cid"]),  # bob is mentioned again: an edge
        ("person,friend\nann,bob\nbob,cid\n", ["ann", "bob", "cid"]),  # neither is: a header
        ("ann,bob\n", []),
    ],
)
def test_a_header_of_unknown_names_is_told_from_an_edge(tmp_path: Path, text: str, ids: list[str]) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(text)
    if ids:
        assert list(read_graph(path, features="degree").node_ids) == ids
    else:
        with pytest.raises(ValueError, match="at least one node"):
            read_graph(path, features="degree")
        (tmp_path / "nodes.csv").write_text("id,f\nann,1\nbob,2\n")
        assert read_graph(tmp_path).edge_index.tolist() == [[0], [1]]


def test_ids_are_integers_only_if_all_are_written_as_such(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\n10,9\n9,10\n")
    data = read_graph(tmp_path, features="degree")
    assert data.node_ids.dtype == np.int64
    assert data.node_ids.tolist() == [9, 10]
    (tmp_path / "edges.csv").write_text("source,target\n10,09\n9,10\n")
    assert read_graph(tmp_path, features="degree").node_ids.tolist() == ["09", "10", "9"]


def test_parquet_integers_meet_csv_text(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"from": pa.array([5, 7], pa.int32()), "to": pa.array([7, 5], pa.uint64())}), tmp_path / "edges.parquet"
    )
    (tmp_path / "features.csv").write_text("id,f\n7,1\n5,2\n")
    data = read_graph(tmp_path)
    assert data.node_ids.tolist() == [5, 7]
    assert data.x.tolist() == [[2.0], [1.0]]


# ---- features -----------------------------------------------------------------------------------------------
def with_edges(folder: Path, text: str = "source,target\n0,1\n1,2\n") -> Path:
    (folder / "edges.csv").write_text(text)
    return folder


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_sparse_files_of_scipy(tmp_path: Path, layout: str) -> None:
    matrix = scipy.sparse.random_array((3, 7), density=0.4, rng=np.random.default_rng(0))
    scipy.sparse.save_npz(with_edges(tmp_path) / "features.npz", matrix.asformat(layout))
    x = read_graph(tmp_path).x
    assert x.layout == torch.sparse_csr
    np.testing.assert_array_equal(x.to_dense().numpy(), matrix.toarray().astype(np.float32))


def test_matrix_files_and_headless_tables_number_the_nodes(tmp_path: Path) -> None:
    x = np.array([[1.5, 2, 0], [3, 4, 0], [5, 6, 1]])
    np.save(with_edges(tmp_path) / "features.npy", x)
    np.savez(tmp_path / "other.npz", x=x)
    write_rows(tmp_path / "plain.csv", None, x.tolist())
    write_rows(tmp_path / "pandas.csv", ["0", "1", "2"], x.tolist())
    write_rows(tmp_path / "index.csv", ["", "0", "1", "2"], [[2, *x[2]], [0, *x[0]], [1, *x[1]]])
    for features in (None, "other.npz", "plain.csv", "pandas.csv", "index.csv"):
        data = read_graph(tmp_path, features=None if features is None else tmp_path / features)
        np.testing.assert_array_equal(data.x.numpy(), x.astype(np.float32))
        assert data.node_ids.tolist() == [0, 1, 2]


def test_words_become_categories_on_request(tmp_path: Path) -> None:
    (with_edges(tmp_path) / "features.csv").write_text("id,size,colour,seen\n0,1,red,true\n1,2,blue,false\n2,3,,true\n")
    data = read_graph(tmp_path, categorical="one-hot", missing_features="zero")
    assert data.feature_names == ["size", "colour=blue", "colour=red", "seen"]
    assert data.x.tolist() == [[1, 0, 1, 1], [2, 1, 0, 0], [3, 0, 0, 1]]
    assert read_graph(tmp_path, categorical="one-hot", missing_features="mean").x.tolist()[2] == [3, 0.5, 0.5, 1]
    assert read_graph(tmp_path, ignore=["colour"]).feature_names == ["size", "seen"]


def test_parquet_lists_are_vectors(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [2, 0, 1], "e": [[1.0, 2], None, [3, 4]]}), with_edges(tmp_path) / "features.parquet")
    data = read_graph(tmp_path, missing_features="mean")
    assert data.x.tolist() == [[2, 3], [3, 4], [1, 2]]
    assert data.feature_names == ["e[0]", "e[1]"]


def test_nodes_without_a_row_are_missing_values(tmp_path: Path) -> None:
    (with_edges(tmp_path) / "features.csv").write_text("id,f,g\n2,4,1\n0,2,\n")
    (tmp_path / "labels.csv").write_text("id,label\n9,b\n0,a\n")
    data = read_graph(tmp_path, missing_features="mean")
    assert data.node_ids.tolist() == [0, 1, 2, 9]
    assert data.x.tolist() == [[2, 1], [3, 1], [4, 1], [3, 1]]
    assert data.y.tolist() == [0, -1, -1, 1]
    assert read_graph(tmp_path, missing_features="zero").x.tolist() == [[2, 0], [0, 0], [4, 1], [0, 0]]


def test_features_from_the_graph_alone(tmp_path: Path) -> None:
    with_edges(tmp_path, "source,target\na,b\nb,a\nb,c\nd,d\n")
    degree = read_graph(tmp_path, features="degree")
    graph = nx.Graph([("a", "b"), ("b", "c")])
    assert degree.x.flatten().tolist() == [float(graph.degree[i]) if i in graph else 0.0 for i in degree.node_ids]
    identity = read_graph(tmp_path, features="identity").x
    assert identity.layout == torch.sparse_csr
    assert torch.equal(identity.to_dense(), torch.eye(4))


def test_a_nodes_table_gives_labels_where_its_features_are_not_wanted(tmp_path: Path) -> None:
    (with_edges(tmp_path) / "nodes.csv").write_text("id,colour,label\n0,red,x\n1,,\n7,1,y\n2,3,x\n")
    data = read_graph(tmp_path, features="degree")
    assert data.node_ids.tolist() == [0, 1, 2, 7]
    assert data.x.flatten().tolist() == [1, 2, 1, 0]
    assert data.y.tolist() == [0, -1, 0, 1]


def test_large_features_are_sparse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chebnet2d.data.own_graph.features.DENSE_LIMIT", 3 * 8 * 4 - 1)
    few, many = np.eye(3, 8), np.ones((3, 8))
    for x, layout in ((few, torch.sparse_csr), (many, torch.strided), (np.eye(3, 7), torch.strided)):
        np.save(with_edges(tmp_path) / "features.npy", x)
        found = read_graph(tmp_path).x
        assert found.layout == layout
        assert torch.equal(found.to_dense(), torch.from_numpy(x).float())


# ---- labels -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "y", "names", "arguments"),
    [
        ("id,label\n0,b\n2,a\n", [1, -1, 0], ["a", "b"], {}),
        ("id,label\n0,10\n2,9\n1,\n", [1, -1, 0], ["9", "10"], {}),
        ("id,label\n0,1.0\n2,0.0\n1,nan\n", [1, -1, 0], ["0", "1"], {}),
        ("id,label\n0,01\n2,1\n", [0, -1, 1], ["01", "1"], {}),
        ("0,b\n2,a\n", [1, -1, 0], ["a", "b"], {}),
        ("what,ever\n0,b\n2,a\n", [1, -1, 0], ["a", "b"], {}),
        ("label,id\nb,0\n", [0, -1, -1], ["b"], {}),
        ("id,kind,more\n0,b,c\n", [0, -1, -1], ["b"], {"label": "kind"}),
        ("label\nb\n\na\n", [1, -1, 0], ["a", "b"], {}),
        ("b\nc\na\n", [1, 2, 0], ["a", "b", "c"], {}),
        ("kind\nb\nc\na\n", [1, 2, 0], ["a", "b", "c"], {}),
        ("id,label\n0,3\n1,-1\n", [0, -1, -1], ["3"], {"unlabelled": "-1"}),
        ("id,label\n0,1\n1,-1\n", [1, 0, -1], ["-1", "1"], {"unlabelled": ""}),
        ("id,label\n0,x\n1,?\n", [0, -1, -1], ["x"], {"unlabelled": "?"}),
        ("id,label\n0,NA\n1,None\n", [0, 1, -1], ["NA", "None"], {"unlabelled": ""}),
        ("id,label\n0,x\n1,NA\n", [0, -1, -1], ["x"], {"unlabelled": "NA"}),
    ],
)
def test_labels(tmp_path: Path, text: str, y: list[int], names: list[str], arguments: Any) -> None:
    np.save(with_edges(tmp_path) / "features.npy", np.eye(3))
    (tmp_path / "labels.csv").write_text(text)
    data = read_graph(tmp_path, **arguments)
    assert data.y.tolist() == y
    assert data.class_names == names


def test_parquet_labels_of_every_type(tmp_path: Path) -> None:
    np.save(with_edges(tmp_path) / "features.npy", np.eye(3))
    for column, y, names in [
        (pa.array([4, None, 2]), [1, -1, 0], ["2", "4"]),
        (pa.array([4.0, float("nan"), 2.0]), [1, -1, 0], ["2", "4"]),
        (pa.array([True, None, False]), [1, -1, 0], ["False", "True"]),
        (pa.array(["b", None, "a"]).dictionary_encode(), [1, -1, 0], ["a", "b"]),
    ]:
        pq.write_table(pa.table({"node": [0, 1, 2], "y": column}), tmp_path / "labels.parquet")
        data = read_graph(tmp_path)
        assert (data.y.tolist(), data.class_names) == (y, names)


def test_y_beside_x_is_a_coordinate(tmp_path: Path) -> None:
    (with_edges(tmp_path) / "nodes.csv").write_text("id,x,y\n0,1,2\n1,3,4\n2,5,6\n")
    assert read_graph(tmp_path).feature_names == ["x", "y"]
    (tmp_path / "nodes.csv").write_text("id,f,y\n0,1,2\n1,3,4\n2,5,6\n")
    assert read_graph(tmp_path).class_names == ["2", "4", "6"]


def test_a_column_name_is_for_the_tables_that_have_it(tmp_path: Path) -> None:
    (with_edges(tmp_path) / "features.csv").write_text("paper,f\n0,1\n1,2\n2,3\n")
    (tmp_path / "labels.csv").write_text("id,kind,note\n2,x,\n0,y,\n")
    data = read_graph(tmp_path, node_id="paper", label="kind")
    assert (data.x.tolist(), data.y.tolist()) == ([[1], [2], [3]], [1, -1, 0])
    with pytest.raises(ValueError, match=r"labels\.csv: label must be one of its columns \('id', 'kind', 'note'\), got 'sort'"):
        read_graph(tmp_path, node_id="paper", label="sort")
    (tmp_path / "features.csv").write_text("paper,f,sort\n0,1,1\n1,2,1\n2,3,2\n")
    with pytest.raises(ValueError, match=r"features\.csv: labels must come from one place, got the column 'sort'"):
        read_graph(tmp_path, node_id="paper", label="sort")


# ---- other ways in ------------------------------------------------------------------------------------------
def test_saved_data_comes_back_whole(tmp_path: Path) -> None:
    data = Data(x=torch.rand(4, 3), edge_index=torch.tensor([[0, 1], [3, 2]]), y=torch.tensor([1, 0, -1, 1]))
    data.train_mask = torch.tensor([True, False, False, True])
    data.note, data.numbers, data.nothing = "über", [1, 2.5, "x"], None
    path = write_graph(data, tmp_path / "graph.safetensors")
    again = read_graph(path)
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
    assert from_networkx(graph, ["v", "n"]).x.tolist() == [[3, 4, 2], [1, 2, 1]]
    assert from_networkx(graph, "n").x.tolist() == [[2], [1]]
    everything = from_networkx(graph, categorical="one-hot")
    assert everything.x.tolist() == [[3, 4, 2, 1, 0], [1, 2, 1, 0, 1]]
    assert everything.name == "friends"
    assert everything.y.tolist() == [-1, 0]
    assert from_networkx(graph, "degree").x.tolist() == [[1], [1]]
    # A matrix has its rows in the order of graph.nodes.
    for matrix in (np.array([[7.0], [8.0]]), torch.tensor([[7.0], [8.0]]), scipy.sparse.csr_array([[7.0], [8.0]])):
        assert from_networkx(graph, matrix).x.to_dense().tolist() == [[8], [7]]
    assert from_networkx(nx.relabel_nodes(graph, {"a": (0, 1), "b": (1, 0)}), "n").node_ids.tolist() == ["(0, 1)", "(1, 0)"]


def test_graphml_with_features_of_its_own(tmp_path: Path) -> None:
    graph = nx.Graph([("a", "b")])
    graph.nodes["a"]["label"] = "x"
    nx.write_graphml(graph, tmp_path / "g.graphml")
    (tmp_path / "f.csv").write_text("id,f\nb,1\na,2\n")
    data = read_graph(tmp_path / "g.graphml", features=tmp_path / "f.csv")
    assert data.x.tolist() == [[2], [1]]
    assert data.y.tolist() == [0, -1]
    assert read_graph(tmp_path / "g.graphml", features="degree").x.tolist() == [[1], [1]]


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
    data = read_graph(tmp_path)
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
    data = read_graph(path, features="identity")
    np.testing.assert_array_equal(data.node_ids[data.edge_index.numpy()], ids[ends.T])


def test_the_examples_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[1] / "docs" / "own-graph.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    files = re.findall(r"`(my-graph/[\w.]+)`:\n\n```csv\n(.*?)```", text, flags=re.DOTALL)
    assert [name for name, _ in files] == ["my-graph/edges.csv", "my-graph/nodes.csv"]
    for name, content in files:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, "own-graph.md", None, 0)
    assert len(examples.examples) > 10
    result = doctest.DocTestRunner().run(examples)
    assert result.failed == 0

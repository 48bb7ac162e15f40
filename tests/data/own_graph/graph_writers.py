"""A graph as a person has it, written in every format; the truth is a loop over plain Python lists."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse
import torch

from chebnet2d.data.own_graph import from_networkx, read_graph


def read_raw(*arguments: Any, **options: Any) -> Any:
    """The graph with its features as they are in the files."""
    return read_graph(*arguments, preprocess="none", **options)


def raw_networkx(*arguments: Any, **options: Any) -> Any:
    return from_networkx(*arguments, preprocess="none", **options)


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


def with_edges(folder: Path, text: str = "source,target\n0,1\n1,2\n") -> Path:
    (folder / "edges.csv").write_text(text)
    return folder

"""A networkx graph in memory. Its methods are enough, so that the package itself is not imported."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse
import torch
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.arrays import array_features
from chebnet2d.data.own_graph.assemble import assemble
from chebnet2d.data.own_graph.edges import read_edges
from chebnet2d.data.own_graph.feature_table import node_table_at
from chebnet2d.data.own_graph.features import Features
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.table import MemoryTable, shown
from chebnet2d.graph import SparseOperator
from chebnet2d.preparation import MADE_FEATURES

_OWNER = "from_networkx"


def from_networkx(
    graph: Any,
    features: Any = None,
    label: str | None = "label",
    *,
    weight: str | None = "weight",
    **fields: Any,
) -> Data:
    """A ``Data`` from a networkx graph of any kind, by the rules of ``read_graph``: nodes are sorted by id.

    Args:
        features: names of node attributes (by default all but ``label``; an attribute may hold a vector), "degree",
            "identity", or a matrix with a row for each of ``graph.nodes``, in that order.
        label: the node attribute that holds the class; nodes without it have y = -1.
        weight: the edge attribute that holds the weight, where edges have one.
        fields: fields of ``ReadOptions`` that are not about names of columns, such as ``preprocess`` or ``unlabelled``.
    """
    options = ReadOptions.of(None, fields)
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise InputError(_OWNER, "graph", "a networkx graph", graph)
    nodes = [node for node, _ in graph.nodes(data=True)]
    attributes = [dict(values) for _, values in graph.nodes(data=True)]

    def place(row: int) -> str:
        return f"node {shown(nodes[row])}"

    names: list[str] = []
    matrix = None
    made = features if isinstance(features, str) and features in MADE_FEATURES else None
    if features is None:
        names = list(dict.fromkeys(name for values in attributes for name in values if name != label))
    elif isinstance(features, str):
        names = [] if made else [features]
    elif isinstance(features, Sequence) and all(isinstance(name, str) for name in features):
        names = list(features)
    else:
        matrix = features
    for name in names:
        if not any(name in values for values in attributes):
            raise InputError(_OWNER, "features", "attributes of nodes", got=f"{name!r}, which no node has")

    columns = {"id": _ids(nodes)} | {f"attribute {name}": _column(name, attributes, place) for name in names}
    labelled = label is not None and any(label in values for values in attributes)
    if labelled:
        columns["label"] = _column(str(label), attributes, place)
    table = MemoryTable("graph", ["id", *names, *([str(label)] if labelled else [])], list(columns.values()), place)
    columns_of_features = range(1, 1 + len(names))
    found, labels = node_table_at(table, 0, 1 + len(names) if labelled else None, columns_of_features, options)
    source: Features | str = made or found
    if matrix is not None:
        source = _matrix(matrix, len(nodes))
        source.ids = found.ids
    edges = read_edges(_edge_table(graph, weight), options)
    return assemble(str(getattr(graph, "name", "") or "graph"), edges, source, labels, options, nodes=found)


def to_networkx(data: Any) -> Any:
    """An undirected networkx graph with the ids of the data as nodes, their columns and label as attributes."""
    import networkx as nx

    ids = data.get("node_ids")
    nodes = list(range(int(data.num_nodes))) if ids is None else ids.tolist()
    columns, names, y = data.get("columns"), data.get("class_names"), data.get("y")
    rows = [{} for _ in nodes] if columns is None else columns.table.to_pylist()
    graph = nx.Graph(name=data.get("name") or "graph")
    for k, node in enumerate(nodes):
        label = -1 if y is None else int(y[k])
        known = {} if label < 0 else {"label": names[label] if names else label}
        graph.add_node(node, **{name: value for name, value in rows[k].items() if value is not None}, **known)
    weight = data.get("edge_weight")
    ends = data.edge_index.tolist()
    for k, (a, b) in enumerate(zip(*ends, strict=True)):
        graph.add_edge(nodes[a], nodes[b], **({} if weight is None else {"weight": float(weight[k])}))
    return graph


def _ids(nodes: list[Any]) -> Any:
    if all(isinstance(node, int) and not isinstance(node, bool) and abs(node) < 2**63 for node in nodes):
        return pa.chunked_array([pa.array(nodes, pa.int64())])
    return pa.chunked_array([pa.array([str(node) for node in nodes], pa.string())])


def _column(name: str, attributes: list[dict[str, Any]], place: Callable[[int], str]) -> Any:
    values = [_plain(attribute.get(name)) for attribute in attributes]
    try:
        return pa.chunked_array([pa.array(values)])
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        if all(value is None or isinstance(value, str | int | float) for value in values):
            return pa.chunked_array([pa.array([None if value is None else str(value) for value in values])])
        row = next((i for i, value in enumerate(values) if not isinstance(value, str | int | float | list | None)), 0)
        raise InputError(f"graph, {place(row)}", name, "a number, text or a vector, as elsewhere", values[row]) from None


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _edge_table(graph: Any, weight: str | None) -> MemoryTable:
    edges = list(graph.edges(data=True))
    ends = [_ids([edge[0] for edge in edges]), _ids([edge[1] for edge in edges])]

    def place(row: int) -> str:
        return f"edge ({shown(edges[row][0])}, {shown(edges[row][1])})"

    names = ["source", "target"]
    if weight is not None and any(weight in values for _, _, values in edges):
        ends.append(_column(weight, [values for _, _, values in edges], place))
        names.append("weight")
    return MemoryTable("graph", names, ends, place)


def _matrix(matrix: Any, nodes: int) -> Features:
    if isinstance(matrix, torch.Tensor):
        matrix = matrix.detach().cpu()
        matrix = matrix.numpy() if matrix.layout == torch.strided else SparseOperator.from_torch(matrix).to_scipy()
    try:
        array = scipy.sparse.csr_array(matrix, copy=True) if scipy.sparse.issparse(matrix) else np.asarray(matrix)
    except ValueError:
        raise InputError(_OWNER, "features", "names of node attributes or a matrix", matrix) from None
    found = array_features(_OWNER, "features", array)
    if found.rows != nodes:
        raise InputError(_OWNER, "features", f"a row for each of the {nodes} nodes", got=str(found.rows), verb="have")
    return found

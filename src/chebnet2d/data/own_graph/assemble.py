"""Edges, features and labels become one torch_geometric ``Data``."""

from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse
import torch
from torch import Tensor
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.edge_stream import StreamedIds
from chebnet2d.data.own_graph.edges import Edges
from chebnet2d.data.own_graph.features import Features
from chebnet2d.data.own_graph.labels import Labels
from chebnet2d.data.own_graph.node_ids import IdColumns, positions, union
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.table import shown
from chebnet2d.graph.listed_edges import neighbour_counts
from chebnet2d.preparation import MADE_FEATURES, fit_encoding
from chebnet2d.preparation.joining import sparse_tensor
from chebnet2d.preparation.raw_columns import RawColumns


def assemble(
    name: str,
    edges: Edges,
    features: Features | str | None,
    labels: Labels | None,
    options: ReadOptions,
    *,
    nodes: Features | None = None,
) -> Data:
    """``features`` may be "degree" or "identity". ``nodes``: ids that exist even if nothing else mentions them, and parts."""
    table = features if isinstance(features, Features) and features.present else None
    if table is None and features not in MADE_FEATURES:
        raise no_features(name)
    if labels is not None and labels.ids is None and table is not None:
        _check_label_rows(labels, table)
    numbered = next((part for part in (table, labels) if part is not None and part.ids is None), None)
    if numbered is not None:  # its rows are the nodes 0, 1, ...
        count, owner = numbered.rows, numbered.label
        ids: Any = np.arange(count)
        order = label_nodes = other_nodes = ids
        edge_ends = positions(edges.ids, count, owner)
        if labels is not None and labels.ids is not None:
            label_nodes = positions(labels.ids, count, owner)
    else:
        label_ids = None if labels is None else labels.ids
        parts = [edges.ids, table.ids if table is not None else None, label_ids, None if nodes is None else nodes.ids]
        ids, numbers = union([part for part in parts if part is not None])
        number = iter(numbers)
        edge_ends, feature_nodes, label_nodes, other_nodes = (None if part is None else next(number) for part in parts)
        order = np.full(len(ids), -1, dtype=np.int64)
        if table is not None:
            order[feature_nodes] = np.arange(table.rows)
            raw = options.preprocess != "none" and 2 * table.rows >= len(ids)
            if not raw and options.missing_features == "error":
                for part, part_nodes in zip((parts[0], *parts[2:]), (edge_ends, label_nodes, other_nodes), strict=True):
                    if part is not None:
                        _check_known(part, part_nodes, order, table, raw=options.preprocess != "none")
    edge_index: Any
    if isinstance(edges.ids, StreamedIds):
        edge_index = edges.ids.edges(edge_ends, len(ids))
    else:
        edge_index = torch.from_numpy(np.ascontiguousarray(edge_ends.reshape(2, -1).astype(np.int64, copy=False)))
    if not len(ids):
        raise InputError(name, "a graph", "at least one node", got="none", verb="have")
    y, class_names = np.full(len(ids), -1, dtype=np.int64), list[str]()
    if labels is not None:
        values, class_names = labels.classes(options.unlabelled)
        y[label_nodes] = values
    data = Data(edge_index=edge_index, y=torch.from_numpy(y))
    if edges.weight is not None:
        data.edge_weight = torch.from_numpy(edges.weight)
    data.num_nodes, data.node_ids = len(ids), ids
    data.class_names, data.num_classes = class_names, len(class_names)
    data.name, data.metric, data.notes = name, "accuracy", []
    rows = {id(table): order, id(nodes): _rows_of(other_nodes, len(ids))}
    for part in (table, nodes):
        for role, values in ({} if part is None else part.roles).items():
            data[role] = _by_node(values, rows[id(part)])
    if table is None:
        data.raw_x = make_features(str(features), edge_index, len(ids))
    elif table.raw is not None:
        data.columns = RawColumns(table.raw.take(pa.array(order, mask=order < 0)))
        if (order < 0).any():
            data.notes.append(f"{int((order < 0).sum())} nodes have no row in {table.label}: their features are gaps")
    else:
        missing = "error" if options.preprocess == "none" else "keep"
        data.raw_x = table.matrix(order, options.missing_features if missing == "error" else missing)
        if table.names is not None:
            data.feature_names = table.names
    return with_features(data, options)


def with_features(data: Data, options: ReadOptions) -> Data:
    """x from the raw columns or the raw matrix of the graph; of a graph to be predicted, the model's preparation makes it."""
    if options.preprocess == "none":
        data.x, data.raw_x = data.raw_x, None
        del data.raw_x
        return data
    return data if options.lenient else fit_encoding(data, options.preprocess, options.typed())


def _rows_of(numbers: Any, nodes: int) -> Any:
    """The row of each node, -1 for none."""
    rows = np.full(nodes, -1, dtype=np.int64)
    if numbers is not None:
        rows[numbers] = np.arange(len(numbers))
    return rows


def _by_node(values: Tensor, rows: Any) -> Tensor:
    none = False if values.dtype == torch.bool else float("nan") if values.is_floating_point() else -1
    found = torch.full((len(rows),), none, dtype=values.dtype)
    known = torch.from_numpy(rows >= 0)
    found[known] = values[torch.from_numpy(rows[rows >= 0])]
    return found


def make_features(kind: str, edge_index: Any, nodes: int) -> Tensor:
    """ "identity": one feature per node, which is 1 for it alone. "degree": the number of neighbours, without the node itself."""
    if kind == "identity":
        return sparse_tensor(scipy.sparse.eye_array(nodes, format="csr", dtype=np.float32))
    return torch.from_numpy(neighbour_counts(edge_index, nodes).astype(np.float32))[:, None]


def no_features(name: str) -> InputError:
    hint = "Give a file, 'degree' (how many neighbours a node has) or 'identity' (one feature per node) by {}."
    return InputError(name, "features", "from somewhere", got="none", hint=hint, mentions=("features",), verb="come")


def _check_known(part: IdColumns, numbers: Any, order: Any, features: Features, *, raw: bool) -> None:
    bad = part.first(order[numbers] < 0)
    if bad is not None:
        hint = "Add one, or choose 'zero' or 'mean' by {}."
        if raw:
            few = f"{int((order >= 0).sum())} of {len(order)} nodes"
            hint = f"Only {few} have a row there: are these the same ids, and is {{}} the right column?"
        where, node = part.table.where(bad[0]), shown(part.table.cell(*bad))
        rule = f"in {features.label}"
        mentions = ("node_id",) if raw else ("missing_features",)
        raise InputError(where, f"node {node}", rule, got="no row for it", hint=hint, mentions=mentions)


def _check_label_rows(labels: Labels, features: Features) -> None:
    if features.ids is not None:
        hint = "Name it by {}."
        got = ", ".join(repr(name) for name in labels.table.names)
        rule = f"an id column, because {features.label} has one"
        raise InputError(labels.label, "labels", rule, got=got, hint=hint, mentions=("node_id",), verb="have")
    if labels.rows != features.rows:
        rule = f"a row for each of the {features.rows} rows of {features.label}"
        raise InputError(labels.label, "labels without ids", rule, got=str(labels.rows), verb="have")

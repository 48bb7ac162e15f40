"""Edges, features and labels become one torch_geometric ``Data``."""

from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.edges import Edges
from chebnet2d.data.own_graph.features import Features, sparse_tensor
from chebnet2d.data.own_graph.labels import Labels
from chebnet2d.data.own_graph.node_ids import IdColumns, positions, union
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.table import shown
from chebnet2d.graph import adjacency

MADE_FEATURES = ("degree", "identity")


def assemble(
    name: str,
    edges: Edges,
    features: Features | str | None,
    labels: Labels | None,
    options: ReadOptions,
    *,
    nodes: IdColumns | None = None,
) -> Data:
    """``features`` may be "degree" or "identity". ``nodes`` are ids that exist even if nothing else mentions them."""
    table = features if isinstance(features, Features) and features.blocks else None
    if table is None and features not in MADE_FEATURES:
        raise no_features(name)
    if labels is not None and labels.ids is None:
        _check_label_rows(labels, table)
    if table is not None and table.ids is None:
        count = table.rows
        ids: Any = np.arange(count)
        edge_ends = positions(edges.ids, count, table.label)
        order = np.arange(count)
        label_nodes = None
        if labels is not None:
            label_nodes = order if labels.ids is None else positions(labels.ids, count, table.label)
    elif labels is not None and labels.ids is None:
        count = labels.rows
        ids = np.arange(count)
        edge_ends = positions(edges.ids, count, labels.table.label)
        order, label_nodes = np.arange(0), np.arange(count)
    else:
        label_ids = None if labels is None else labels.ids
        parts = [edges.ids, table.ids if table is not None else None, label_ids, nodes]
        ids, numbers = union([part for part in parts if part is not None])
        number = iter(numbers)
        edge_ends, feature_nodes, label_nodes, other_nodes = (None if part is None else next(number) for part in parts)
        order = np.full(len(ids), -1, dtype=np.int64)
        if table is not None:
            order[feature_nodes] = np.arange(table.rows)
            if options.missing_features == "error":
                for part, part_nodes in ((edges.ids, edge_ends), (label_ids, label_nodes), (nodes, other_nodes)):
                    if part is not None:
                        _check_known(part, part_nodes, order, table)
    edge_index = torch.from_numpy(np.ascontiguousarray(edge_ends.reshape(2, -1).astype(np.int64)))
    if not len(ids):
        raise InputError(name, "a graph", "at least one node", got="none", verb="have")
    x = table.matrix(order, options.missing_features) if table is not None else make_features(str(features), edge_index, len(ids))
    y, class_names = np.full(len(ids), -1, dtype=np.int64), list[str]()
    if labels is not None:
        values, class_names = labels.classes(options.unlabelled)
        y[label_nodes] = values
    weight = None if edges.weight is None else torch.from_numpy(edges.weight)
    feature_names = None if table is None else table.names
    return graph_data(name, x, edge_index, weight, torch.from_numpy(y), ids, class_names, feature_names)


def graph_data(
    name: str,
    x: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    y: Tensor,
    node_ids: Any,
    class_names: list[str],
    feature_names: list[str] | None = None,
) -> Data:
    data = Data(x=x, edge_index=edge_index, y=y)
    if edge_weight is not None:
        data.edge_weight = edge_weight
    data.num_nodes = len(node_ids)
    data.node_ids = node_ids
    data.class_names = class_names
    data.num_classes = len(class_names)
    if feature_names is not None:
        data.feature_names = feature_names
    data.name = name
    data.metric = "accuracy"
    return data


def make_features(kind: str, edge_index: Tensor, nodes: int) -> Tensor:
    """ "identity": one feature per node, which is 1 for it alone. "degree": the number of neighbours, without the node itself."""
    if kind == "identity":
        return sparse_tensor(scipy.sparse.eye_array(nodes, format="csr", dtype=np.float32))
    neighbours = np.diff(adjacency(edge_index, num_nodes=nodes).to_scipy().indptr)
    return torch.from_numpy(neighbours.astype(np.float32))[:, None]


def no_features(name: str) -> InputError:
    hint = "Give a file, 'degree' (how many neighbours a node has) or 'identity' (one feature per node) by {}."
    return InputError(name, "features", "from somewhere", got="none", hint=hint, mentions=("features",), verb="come")


def _check_known(part: IdColumns, numbers: Any, order: Any, features: Features) -> None:
    missing = order[numbers] < 0
    if not missing.any():
        return
    by_row = missing.reshape(len(part.columns), -1).T
    row, k = divmod(int(by_row.argmax()), len(part.columns))
    value = shown(part.value_at(row, part.columns[k]))
    hint = "Add one, or choose 'zero' or 'mean' by {}."
    where, rule = part.table.where(row), f"in {features.label}"
    raise InputError(where, f"node {value}", rule, got="no row for it", hint=hint, mentions=("missing_features",))


def _check_label_rows(labels: Labels, features: Features | None) -> None:
    if features is None:
        return
    if features.ids is not None:
        hint = "Name it by {}."
        got = ", ".join(repr(name) for name in labels.table.names)
        rule = f"an id column, because {features.label} has one"
        raise InputError(labels.table.label, "labels", rule, got=got, hint=hint, mentions=("node_id",), verb="have")
    if labels.rows != features.rows:
        rule = f"a row for each of the {features.rows} rows of {features.label}"
        raise InputError(labels.table.label, "labels without ids", rule, got=str(labels.rows), verb="have")

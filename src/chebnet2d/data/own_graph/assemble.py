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
    if labels is not None and labels.ids is None and table is not None:
        _check_label_rows(labels, table)
    numbered = next((part for part in (table, labels) if part is not None and part.ids is None), None)
    if numbered is not None:  # its rows are the nodes 0, 1, ...
        count, owner = numbered.rows, numbered.label
        ids: Any = np.arange(count)
        order = label_nodes = ids
        edge_ends = positions(edges.ids, count, owner)
        if labels is not None and labels.ids is not None:
            label_nodes = positions(labels.ids, count, owner)
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
    data = Data(x=x, edge_index=edge_index, y=torch.from_numpy(y))
    if edges.weight is not None:
        data.edge_weight = torch.from_numpy(edges.weight)
    data.num_nodes, data.node_ids = len(ids), ids
    data.class_names, data.num_classes = class_names, len(class_names)
    if table is not None and table.names is not None:
        data.feature_names = table.names
    data.name, data.metric = name, "accuracy"
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
    bad = part.first(order[numbers] < 0)
    if bad is not None:
        hint = "Add one, or choose 'zero' or 'mean' by {}."
        where, node = part.table.where(bad[0]), shown(part.table.cell(*bad))
        rule = f"in {features.label}"
        raise InputError(where, f"node {node}", rule, got="no row for it", hint=hint, mentions=("missing_features",))


def _check_label_rows(labels: Labels, features: Features) -> None:
    if features.ids is not None:
        hint = "Name it by {}."
        got = ", ".join(repr(name) for name in labels.table.names)
        rule = f"an id column, because {features.label} has one"
        raise InputError(labels.label, "labels", rule, got=got, hint=hint, mentions=("node_id",), verb="have")
    if labels.rows != features.rows:
        rule = f"a row for each of the {features.rows} rows of {features.label}"
        raise InputError(labels.label, "labels without ids", rule, got=str(labels.rows), verb="have")

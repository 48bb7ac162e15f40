"""How every dataset of the catalogue is made: checked arrays in, a torch_geometric ``Data`` with fixed attributes out."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.graph import SparseOperator
from chebnet2d.preparation.joining import DENSE_LIMIT


def make_data(
    name: str,
    x: Any,
    edges: Any,
    y: Any,
    *,
    num_classes: int | None = None,
    metric: str = "accuracy",
    class_names: Sequence[str] | None = None,
    masks: dict[str, Any] | None = None,
) -> Data:
    """A ``Data`` with ``x``, ``edge_index``, ``y``, ``num_classes``, ``name``, ``metric`` and what else is given.

    Args:
        x: N x F numbers, a dense array or a scipy sparse matrix. It becomes dense float32, or CSR above ``DENSE_LIMIT``.
        edges: 2 x E node indices in any order and direction; loops and repetitions are dropped, both directions are kept.
        y: N class indices, -1 for a node without a label.
        metric: name of the metric by which models are judged, see ``chebnet2d.training``.
        masks: "train", "val", "test" to N x S booleans: column s is the s-th fixed split that comes with the data.
    """
    if not isinstance(metric, str) or not metric:
        raise InputError(name, "metric", "the name of a metric", metric)
    features = _features(name, x)
    nodes = int(features.shape[0])
    labels = np.asarray(y)
    if labels.shape != (nodes,) or (labels.size and not np.issubdtype(labels.dtype, np.integer)):
        raise InputError(name, "y", f"one integer for each of the {nodes} nodes", labels)
    if labels.size and int(labels.min()) < -1:
        raise InputError(name, "y", "class indices from 0, or -1 for no label", got=str(int(labels.min())))
    found = int(labels.max()) + 1 if labels.size else 0
    if num_classes is None:
        num_classes = found
    elif found > num_classes:
        raise InputError(name, "y", f"below the number of classes, {num_classes}", got=str(found - 1))
    data = Data(x=features, edge_index=both_directions(edges, nodes, owner=name), y=torch.from_numpy(labels.astype(np.int64)))
    data.num_nodes = nodes  # else torch_geometric guesses, and is wrong for a sparse x
    data.num_classes = num_classes
    data.name = name
    data.metric = metric
    if class_names is not None:
        data.class_names = [str(label) for label in class_names]
    for part, mask in (masks or {}).items():
        table = np.asarray(mask)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or table.shape[0] != nodes:
            raise InputError(name, f"{part}_mask", f"N x S booleans with N = {nodes}", table)
        data[f"{part}_mask"] = torch.from_numpy(np.array(table, dtype=bool, order="C"))
    return data


def both_directions(edges: Any, nodes: int, owner: str = "both_directions") -> Tensor:
    """2 x 2E: every undirected edge once per direction, sorted by (row, column), without self loops."""
    index = np.asarray(edges)
    if index.ndim != 2 or index.shape[0] != 2:
        raise InputError(owner, "edges", "2 x E node indices", index)
    if index.size == 0:
        return torch.empty(2, 0, dtype=torch.int64)
    index = index.astype(np.int64, copy=False)
    if index.min() < 0 or index.max() >= nodes:
        bad = int(index.min()) if index.min() < 0 else int(index.max())
        raise InputError(owner, "edges", f"node indices from 0 to {nodes - 1}", got=str(bad))
    row, col = index[0], index[1]
    keep = row != col
    low, high = np.minimum(row, col)[keep], np.maximum(row, col)[keep]
    keys = sorted_unique(low * nodes + high)
    low, high = keys // nodes, keys % nodes
    keys = np.concatenate([keys, high * nodes + low])
    keys.sort(kind="stable")
    return torch.from_numpy(np.stack([keys // nodes, keys % nodes]))


def sorted_unique(keys: Any) -> Any:
    """``np.unique`` of integers by sorting: several times faster than the hash table that numpy uses for them."""
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if keys.size else keys


def num_classes(data: Data) -> int:
    """The number of classes: the attribute if the data carries one, else the largest label + 1."""
    stored = getattr(data, "num_classes", None)
    if stored is not None:
        return int(stored)
    return int(data.y.max()) + 1 if data.y.numel() else 0


def dataset_digest(data: Data) -> str:
    """The first 16 hex digits of a SHA-256 over features, edges and labels: the same tensors, the same digest."""
    hasher = hashlib.sha256()
    for key in ("x", "edge_index", "edge_weight", "y"):
        value = data.get(key)
        if value is None:
            continue
        if value.layout == torch.sparse_csr:
            parts = [value.crow_indices(), value.col_indices(), value.values()]
        elif value.layout == torch.strided:
            parts = [value]
        else:
            coo = value.coalesce()
            parts = [coo.indices(), coo.values()]
        hasher.update(f"{key}:{tuple(value.shape)}".encode())
        for part in parts:
            array = part.detach().cpu().contiguous().numpy()
            hasher.update(f"{array.dtype}:{array.shape};".encode())
            hasher.update(array.data)
    return hasher.hexdigest()[:16]


def _features(name: str, x: Any) -> Tensor:
    rule = "N x F finite numbers"
    if len(getattr(x, "shape", ())) != 2:
        raise InputError(name, "x", rule, x)
    if scipy.sparse.issparse(x):
        matrix: Any = x  # the stubs know no methods of what ``issparse`` admits
        matrix = matrix.tocsr()
        if not np.isfinite(matrix.data).all():
            raise InputError(name, "x", rule, got="NaN or infinity")
        if matrix.shape[0] * matrix.shape[1] * 4 > DENSE_LIMIT:
            return SparseOperator.from_scipy(matrix, dtype=torch.float32).csr
        return torch.from_numpy(np.ascontiguousarray(matrix.toarray(), dtype=np.float32))
    dense = np.array(x, dtype=np.float32, order="C")  # a copy: the caller may change the array later
    if not np.isfinite(dense).all():
        raise InputError(name, "x", rule, got="NaN or infinity")
    return torch.from_numpy(dense)

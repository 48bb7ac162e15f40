"""Changes of a dataset before training: functions from a ``Data`` to a new one, which leave their argument as it is."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.graph import SparseOperator
from chebnet2d.graph.listed_edges import ListedEdges
from chebnet2d.preparation.joining import DENSE_LIMIT


def row_normalize_features(data: Data) -> Data:
    """Each row of x divided by its L1 norm, the literature's habit for bags of words; an empty row stays empty.

    The same as torch_geometric's ``NormalizeFeatures`` where features are not negative and rows sum to 1 or more.
    """
    copy = data.clone()
    x = _features(data, "row_normalize_features")
    if _is_sparse(x):
        matrix = _scipy(x)
        sums = np.asarray(abs(matrix).sum(axis=1)).reshape(-1)
        matrix.data = matrix.data / np.repeat(np.where(sums > 0, sums, 1.0), np.diff(matrix.indptr))
        copy.x = _tensor(matrix)
    else:
        norms = x.abs().sum(dim=1, keepdim=True)
        copy.x = x / torch.where(norms > 0, norms, torch.ones_like(norms))
    return copy


def standardize(data: Data, scale: Mapping[str, Any] | None = None) -> Data:
    """Each column of x with mean 0 and standard deviation 1 over all nodes; a constant column becomes 0. The result is dense.

    ``scale``: mean and deviation of another graph (``scale_of``), as a model that was trained on that one needs them.
    """
    x = _dense(data, "standardize")
    found = scale if scale is not None else _scale(x)
    mean, deviation = (torch.as_tensor(found[part], dtype=torch.float64) for part in ("mean", "deviation"))
    constant = deviation == 0
    copy = data.clone()
    scaled = (x - mean) / torch.where(constant, 1.0, deviation)
    copy.x = torch.where(constant, 0.0, scaled).to(data.x.dtype)
    return copy


def scale_of(data: Data) -> dict[str, Tensor]:
    """``mean`` and ``deviation`` of each column of x (F numbers each, float64); 0 for one that deviates by rounding alone."""
    return _scale(_dense(data, "standardize"))


def _scale(x: Tensor) -> dict[str, Tensor]:
    deviation = x.std(dim=0, unbiased=False)
    if x.shape[0]:
        deviation[deviation <= 1e-12 * x.abs().amax(dim=0)] = 0
    return {"mean": x.mean(dim=0), "deviation": deviation}


def largest_component(data: Data) -> Data:
    """The nodes of the largest connected component (the first of several equal ones) in their order.

    ``original_index`` says which nodes those were.
    """
    nodes = int(data.num_nodes or 0)
    if nodes == 0:
        raise InputError("largest_component", "data", "nodes", got="none", verb="have")
    if isinstance(data.edge_index, ListedEdges):
        rule, hint = "with edges that fit the memory", "Take another transform, or more memory."
        raise InputError("largest_component", "the graph", rule, got="edges on disk", hint=hint, verb="come")
    row, col = data.edge_index.numpy()
    adjacency = scipy.sparse.coo_array((np.ones(row.size, dtype=bool), (row, col)), shape=(nodes, nodes))
    _, component = connected_components(adjacency, directed=False)
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    position = np.full(nodes, -1)
    position[kept] = np.arange(kept.size)
    edge_kept = torch.from_numpy(position[row] >= 0)
    index = torch.from_numpy(kept)
    copy = data.clone()
    for key, value in data.to_dict().items():
        if key == "edge_index":
            copy.edge_index = torch.from_numpy(position[data.edge_index[:, edge_kept].numpy()])
        elif key == "num_nodes":
            copy.num_nodes = kept.size
        elif key in ("class_names", "feature_names"):
            continue
        elif key == "columns":
            copy.columns = value.take(kept)
        elif isinstance(value, Tensor) and _is_sparse(value) and value.shape[0] == nodes:
            copy[key] = _tensor(_scipy(value)[kept])
        elif isinstance(value, Tensor) and key.startswith("edge_"):
            copy[key] = value[edge_kept]
        elif isinstance(value, Tensor) and value.dim() > 0 and value.shape[0] == nodes:
            copy[key] = value[index]
        elif isinstance(value, np.ndarray) and value.ndim > 0 and value.shape[0] == nodes:
            copy[key] = value[kept]
        elif isinstance(value, list) and len(value) == nodes:
            copy[key] = [value[i] for i in kept]
    copy.original_index = index
    return copy


TRANSFORMS: dict[str, Callable[[Data], Data]] = {
    "row-normalize": row_normalize_features,
    "standardize": standardize,
    "largest-component": largest_component,
}


def apply_transform(data: Data, name: str, scale: Mapping[str, Any] | None = None) -> Data:
    """A transform by its name; "none" leaves the data as it is. ``scale``: see ``standardize``."""
    if name == "standardize":
        return standardize(data, scale)
    return data if name == "none" else TRANSFORMS[name](data)


def _features(data: Data, owner: str) -> Tensor:
    x = data.x
    if not isinstance(x, Tensor) or x.dim() != 2:
        raise InputError(owner, "data.x", "an N x F tensor", got=type(x).__name__)
    return x


def _dense(data: Data, owner: str) -> Tensor:
    """x in float64, if that fits."""
    x = _features(data, owner)
    nodes, features = x.shape
    if _is_sparse(x) and nodes * features * 4 > DENSE_LIMIT:
        hint = "Z-scores of a sparse matrix are dense; use row_normalize_features."
        got = f"{nodes} x {features} sparse features"
        raise InputError(owner, "x", f"into {DENSE_LIMIT >> 20} MiB as a dense matrix", got=got, hint=hint, verb="fit")
    return (x.to_dense() if _is_sparse(x) else x).double()


def _is_sparse(x: Tensor) -> bool:
    return x.layout != torch.strided


def _scipy(x: Tensor) -> Any:
    """A copy, because callers change it in place."""
    return SparseOperator.from_torch(x).to_scipy().astype(np.float64).tocsr()


def _tensor(matrix: Any) -> Tensor:
    return SparseOperator.from_scipy(matrix, dtype=torch.float32).csr

"""A whole graph in one .npz: edge_index, x (or the parts of a sparse one), y, edge_weight, ids, class_names."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.arrays import dense_features, ids_of, sparse_features, sparse_from_parts
from chebnet2d.data.own_graph.assemble import graph_data, make_features, no_features
from chebnet2d.data.own_graph.features import Features
from chebnet2d.data.own_graph.labels import Labels
from chebnet2d.data.own_graph.numpy_files import NpzFile
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.table import MemoryTable

_PARTS = ("x_data", "x_indices", "x_indptr", "x_shape")
_NAMES = ("edge_index", "x", *_PARTS, "y", "edge_weight", "ids", "class_names")


def read_npz(path: Path, made: str | None, options: ReadOptions) -> Data:
    """Nodes keep the numbers that ``edge_index`` uses; ``ids`` are their names. In ``y``, -1 and "" mean no label."""
    with NpzFile(path) as file:
        if not file.has("edge_index"):
            raise InputError(
                file.label, "the archive", f"edge_index (and of {', '.join(_NAMES[1:])})", got=file.listed(), verb="hold"
            )
        edge_index = checked_edge_index(file.label, file.array("edge_index"))
        found = _features(file)
        nodes = _count(file, found, edge_index)
        if edge_index.size and edge_index.max() >= nodes:
            raise InputError(file.label, "edge_index", f"below the number of nodes, {nodes}", got=str(edge_index.max()))
        weight = None
        if file.has("edge_weight"):
            weight = torch.from_numpy(checked_weight(file.label, file.array("edge_weight"), edge_index.shape[1]))
        ids = ids_of(file.label, file.array("ids"), nodes) if file.has("ids") else np.arange(nodes)
        y, class_names = np.full(nodes, -1, dtype=np.int64), list[str]()
        if file.has("y"):
            y, class_names = _labels(file, nodes, options.unlabelled)
    index = torch.from_numpy(edge_index)
    if made is not None:
        x = make_features(made, index, nodes)
    elif found is None:
        raise no_features(str(path))
    else:
        x = found.matrix(np.arange(nodes), options.missing_features)
    return graph_data(path.stem, x, index, weight, torch.from_numpy(y), ids, class_names)


def _features(file: NpzFile) -> Features | None:
    if file.has("x"):
        return dense_features(file.label, "x", file.array("x"))
    if not any(name in file.names for name in _PARTS):
        return None
    lacking = [name for name in _PARTS if name not in file.names]
    if lacking:
        raise InputError(
            file.label, "a sparse x", f"the parts {', '.join(_PARTS)}", got=f"none of {', '.join(lacking)}", verb="have"
        )
    data, indices, indptr, shape = (file.array(name) for name in _PARTS)
    return sparse_features(file.label, "x", sparse_from_parts(f"{file.label}: x", shape, data, indices, indptr))


def _count(file: NpzFile, features: Features | None, edge_index: Any) -> int:
    if features is not None:
        return features.rows
    for name in ("y", "ids"):
        if file.has(name) and file.array(name).ndim == 1:
            return int(file.array(name).shape[0])
    return int(edge_index.max()) + 1 if edge_index.size else 0


def _labels(file: NpzFile, nodes: int, unlabelled: str | None) -> tuple[Any, list[str]]:
    y = file.array("y")
    if y.shape != (nodes,):
        raise InputError(file.label, "y", f"one label for each of the {nodes} nodes", got=f"shape {y.shape}", verb="have")
    if y.dtype.kind not in "iufUb":
        raise InputError(file.label, "y", "integers or text", got=f"dtype {y.dtype}", verb="hold")
    if file.has("class_names"):
        names = [str(name) for name in file.array("class_names").ravel().tolist()]
        return checked_classes(file.label, y, names), names
    if y.dtype.kind in "if" and unlabelled is None:
        unlabelled = "-1"
    column = pa.chunked_array([pa.array(y.tolist() if y.dtype.kind == "U" else y)])
    table = MemoryTable(file.label, ["y"], [column], lambda row: f"y[{row}]")
    return Labels(table, 0, column, ids=None, rows=nodes).classes(unlabelled)


def checked_edge_index(label: str, array: Any) -> Any:
    if array.ndim != 2 or array.shape[0] != 2:
        hint = "Transpose it?" if array.ndim == 2 and array.shape[1] == 2 else ""
        raise InputError(label, "edge_index", "2 x E integers", got=f"shape {array.shape}", hint=hint)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(label, "edge_index", "2 x E integers", got=f"dtype {array.dtype}")
    if array.size and array.min() < 0:
        raise InputError(label, "edge_index", ">= 0", got=str(array.min()))
    return np.ascontiguousarray(array, dtype=np.int64)


def checked_weight(label: str, array: Any, edges: int) -> Any:
    if array.shape != (edges,):
        raise InputError(
            label, "edge_weight", f"one number for each of the {edges} edges", got=f"shape {array.shape}", verb="have"
        )
    if array.dtype.kind not in "iufb":
        raise InputError(label, "edge_weight", "numbers", got=f"dtype {array.dtype}", verb="hold")
    with np.errstate(over="ignore"):
        weight = array.astype(np.float32)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        first = int(bad.argmax())
        raise InputError(label, "edge_weight", "finite numbers >= 0", got=f"{array[first]} at edge {first}")
    return weight


def checked_classes(label: str, y: Any, names: list[str]) -> Any:
    """Class indices that belong to a list of names: -1 for none."""
    if y.dtype.kind not in "iu":
        raise InputError(label, "y", "class indices beside class_names", got=f"dtype {y.dtype}", verb="hold")
    bad = (y < -1) | (y >= len(names))
    if bad.any():
        first = int(bad.argmax())
        raise InputError(
            label, "y", f"from -1 to {len(names) - 1} (class_names has {len(names)})", got=f"{y[first]} at node {first}"
        )
    if len(set(names)) < len(names):
        raise InputError(label, "class_names", "distinct", got=", ".join(names[:8]))
    return y.astype(np.int64)

"""A graph in one file, whose nodes are numbered: an .npz, or what ``write_graph`` wrote. Both are checked by the same rules."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse
import torch
from torch import Tensor
from torch_geometric.data import Data

from chebnet2d._checks import InputError, integer
from chebnet2d.data.own_graph.arrays import array_features, ids_of, sparse_matrix
from chebnet2d.data.own_graph.assemble import make_features, no_features, with_features
from chebnet2d.data.own_graph.labels import Labels
from chebnet2d.data.own_graph.numpy_files import load_npz
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.saved_graph import saved_values
from chebnet2d.data.own_graph.table import MemoryTable
from chebnet2d.data.reading_limit import check_size
from chebnet2d.preparation.raw_columns import RawColumns

_PARTS = ("x_data", "x_indices", "x_indptr", "x_shape")
_NAMES = ("edge_index", "x", *_PARTS, "y", "edge_weight", "ids", "class_names")


def read_npz(path: Path, made: str | None, options: ReadOptions) -> Data:
    """Nodes keep the numbers that ``edge_index`` uses; ``ids`` are their names. In ``y``, -1 and "" mean no label."""
    values, listed = load_npz(path, _NAMES)
    if "edge_index" not in values:
        rule = f"edge_index (and of {', '.join(_NAMES[1:])})"
        raise InputError(str(path), "the archive", rule, got=listed, verb="hold")
    lacking = [name for name in _PARTS if name not in values]
    if "x" not in values and 0 < len(lacking) < len(_PARTS):
        rule = f"the parts {', '.join(_PARTS)}"
        raise InputError(str(path), "a sparse x", rule, got=f"none of {', '.join(lacking)}", verb="have")
    if "x" not in values and not lacking:
        data, indices, indptr, shape = (values[name] for name in _PARTS)
        values["x"] = sparse_matrix(f"{path}: x", "csr", shape, data, indices, indptr)
    if "class_names" in values:
        values["class_names"] = [str(name) for name in values["class_names"].ravel().tolist()]
    known = {name: values[name] for name in ("edge_index", "x", "y", "edge_weight", "class_names") if name in values}
    return checked_graph(path, known | {"node_ids": values.get("ids")}, made, options)


def read_saved(path: Path, made: str | None, options: ReadOptions) -> Data:
    """The ``Data`` of the file; ``made``: features to make instead of its own."""
    values = saved_values(path)
    for key in ("edge_index", "x", "y", "edge_weight", "node_ids"):
        value = values.get(key)
        if isinstance(value, Tensor) and value.layout == torch.strided:
            values[key] = value.numpy()
        elif isinstance(value, Tensor) and key == "x":
            parts = (part.numpy() for part in (value.values(), value.col_indices(), value.crow_indices()))
            values[key] = scipy.sparse.csr_array(tuple(parts), shape=tuple(value.shape))
        elif value is not None and not isinstance(value, np.ndarray):
            raise InputError(str(path), key, "an array", value)
    y = values.get("y")
    if values.get("class_names") is None and y is not None:  # y holds class indices already
        values["class_names"] = [str(i) for i in range(int(y.max()) + 1 if y.size and y.dtype.kind in "iu" else 0)]
    return checked_graph(path, values, made, options)


def checked_graph(path: Path, values: dict[str, Any], made: str | None, options: ReadOptions) -> Data:
    """Sizes fit, indices exist, numbers are finite. x is a numpy or scipy matrix; unknown attributes stay as they are."""
    label = str(path)
    edge_index = _edge_index(label, values["edge_index"])
    nodes = _count(values, edge_index)
    check_size(label, f"a graph of {nodes} nodes", 64.0 * nodes)
    if edge_index.size and edge_index.max() >= nodes:
        raise InputError(label, "edge_index", f"below the number of nodes, {nodes}", got=str(edge_index.max()))
    index, x = torch.from_numpy(edge_index), values.get("x")
    if made is not None:
        raw_x = make_features(made, index, nodes)
    elif values.get("columns") is not None:
        raw_x = None
        _check_columns(label, values["columns"], nodes, options)
    elif x is None:
        raise no_features(label)
    else:
        missing = options.missing_features if options.preprocess == "none" else "keep"
        raw_x = array_features(label, "x", x).matrix(np.arange(nodes), missing)
    if values.get("edge_weight") is not None:
        values["edge_weight"] = torch.from_numpy(_weight(label, values["edge_weight"], edge_index.shape[1]))
    y, class_names = _labels(label, values, nodes, options.unlabelled)
    ids = values.get("node_ids")
    known = {
        "raw_x": raw_x,
        "edge_index": index,
        "y": torch.from_numpy(y),
        "num_nodes": nodes,
        "node_ids": np.arange(nodes) if ids is None else ids_of(label, ids, nodes),
        "class_names": class_names,
        "num_classes": len(class_names),
        "name": values.get("name") or path.stem,
        "metric": values.get("metric") or "accuracy",
    }
    values.pop("x", None)
    return with_features(Data(**(values | known)), options)


def _check_columns(label: str, columns: Any, nodes: int, options: ReadOptions) -> None:
    if not isinstance(columns, RawColumns) or columns.table.num_rows != nodes:
        raise InputError(label, "columns", f"a table with a row for each of the {nodes} nodes", columns)
    if options.preprocess == "none":
        hint = "It was read from tables with a preparation. Choose another by {}."
        raise InputError(
            label, "the graph", "features as they are", got="raw columns", hint=hint, verb="have", mentions=("preprocess",)
        )


def _count(values: dict[str, Any], edge_index: Any) -> int:
    x, stated = values.get("x"), values.get("num_nodes")
    if x is not None and x.ndim == 2:
        return int(x.shape[0])
    if stated is not None:
        return integer("", "num_nodes", stated, 0)
    for name in ("y", "node_ids"):
        if values.get(name) is not None and values[name].ndim == 1:
            return len(values[name])
    return int(edge_index.max()) + 1 if edge_index.size else 0


def _edge_index(label: str, array: Any) -> Any:
    if array.ndim != 2 or array.shape[0] != 2:
        hint = "Transpose it?" if array.ndim == 2 and array.shape[1] == 2 else ""
        raise InputError(label, "edge_index", "2 x E integers", got=f"shape {array.shape}", hint=hint)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(label, "edge_index", "2 x E integers", got=f"dtype {array.dtype}")
    if array.size and array.min() < 0:
        raise InputError(label, "edge_index", ">= 0", got=str(array.min()))
    return np.ascontiguousarray(array, dtype=np.int64)


def _weight(label: str, array: Any, edges: int) -> Any:
    if array.shape != (edges,) or array.dtype.kind not in "iufb":
        got = f"dtype {array.dtype} and shape {array.shape}"
        raise InputError(label, "edge_weight", f"one number for each of the {edges} edges", got=got, verb="have")
    with np.errstate(over="ignore"):
        weight = array.astype(np.float32)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        first = int(bad.argmax())
        raise InputError(label, "edge_weight", "finite numbers >= 0", got=f"{array[first]} at edge {first}")
    return weight


def _labels(label: str, values: dict[str, Any], nodes: int, unlabelled: str | None) -> tuple[Any, list[str]]:
    """(class index of each node or -1, class names). Without names, y may hold words or integers."""
    y, names = values.get("y"), values.get("class_names")
    if y is None:
        y, names = np.full(nodes, -1, dtype=np.int64), names or []
    if y.shape != (nodes,):
        raise InputError(label, "y", f"one label for each of the {nodes} nodes", got=f"shape {y.shape}", verb="have")
    if names is None:
        if y.dtype.kind not in "iufUb":
            raise InputError(label, "y", "integers or text", got=f"dtype {y.dtype}", verb="hold")
        if y.dtype.kind in "if" and unlabelled is None:
            unlabelled = "-1"
        column = pa.chunked_array([pa.array(y.tolist() if y.dtype.kind == "U" else y)])
        table = MemoryTable(label, ["y"], [column], lambda row: f"y[{row}]")
        return Labels(table, 0, column, ids=None).classes(unlabelled)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(label, "class_names", "a list of strings", got=f"{names!r:.60}")
    if len(set(names)) < len(names):
        raise InputError(label, "class_names", "distinct", got=", ".join(names[:8]))
    if y.dtype.kind not in "iu":
        raise InputError(label, "y", "class indices beside class_names", got=f"dtype {y.dtype}", verb="hold")
    bad = (y < -1) | (y >= len(names))
    if bad.any():
        rule, node = f"from -1 to {len(names) - 1} (class_names has {len(names)})", int(bad.argmax())
        raise InputError(label, "y", rule, got=f"{y[node]} at node {node}")
    return y.astype(np.int64), names

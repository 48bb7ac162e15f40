"""Anyone's torch_geometric ``Data`` as a graph of the user's own: checked, with ids, class names and prepared features.

The way out needs nothing: every graph here is a ``Data``.
"""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.whole_graph import checked_graph
from chebnet2d.graph import SparseOperator


def from_pyg(data: Any, **fields: Any) -> Data:
    """``x``, ``edge_index``, ``y`` (-1: no label), ``edge_weight``, ``node_ids``, ``class_names`` are checked; all else is kept.

    ``fields``: fields of ``ReadOptions``, such as ``preprocess``.
    """
    if not hasattr(data, "to_dict") or getattr(data, "edge_index", None) is None:
        raise InputError("from_pyg", "data", "a torch_geometric Data with edge_index", data)
    values = {key: value for key, value in data.to_dict().items() if key not in ("preparation", "raw_x", "columns")}
    for key in ("x", "edge_index", "y", "edge_weight", "node_ids"):
        if values.get(key) is not None:
            values[key] = _array(values[key])
    y = values.get("y")
    if y is not None and y.dtype.kind == "O":
        values["y"] = np.array(["" if label is None else str(label) for label in y.tolist()])
    return checked_graph(Path(str(values.get("name") or "graph")), values, None, ReadOptions.of(None, fields))


def _array(value: Any) -> Any:
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        return value.numpy() if value.layout == torch.strided else SparseOperator.from_torch(value).to_scipy()
    return scipy.sparse.csr_array(value, copy=True) if scipy.sparse.issparse(value) else np.asarray(value)

"""Reading what ``write_graph`` wrote, with the same checks as for any other file of unknown origin."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.arrays import dense_features, ids_of, sparse_features, sparse_from_parts
from chebnet2d.data.own_graph.assemble import make_features, no_features
from chebnet2d.data.own_graph.npz_graph import checked_classes, checked_edge_index, checked_weight
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.table import first_line, shown
from chebnet2d.data.own_graph.writing import FORMAT, VERSION
from chebnet2d.graph import SparseOperator


def read_saved(path: Path, made: str | None, options: ReadOptions) -> Data:
    """The ``Data`` of the file; ``made``: features to make instead of its own."""
    values = saved_values(path)
    _check(str(path), values, made, options.missing_features)
    data = Data(**{key: values.pop(key) for key in ("x", "edge_index", "y") if key in values})
    for key, value in values.items():
        setattr(data, key, value)
    data.name = values.get("name") or path.stem
    data.metric = values.get("metric") or "accuracy"
    return data


def saved_values(path: Path) -> dict[str, Any]:
    """The attributes that ``write_graph`` wrote, as they are in the file."""
    label = str(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError) as error:
        raise InputError(label, "the file", "safetensors", reason=first_line(error)) from None
    if FORMAT not in metadata:
        raise InputError(label, "the file", "a graph that write_graph wrote", got="another safetensors file")
    try:
        header = json.loads(metadata[FORMAT])
        version = header["version"]
        values = _assembled(label, tensors, header["attributes"]) if version == VERSION else {}
    except (KeyError, AttributeError, TypeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(label, "the file", "whole", reason=f"{type(error).__name__}: {error}") from None
    if version != VERSION:
        hint = "A newer chebnet2d may read it."
        raise InputError(label, "the file", f"version {VERSION}", got=shown(version), hint=hint, verb="have")
    if not isinstance(values.get("edge_index"), Tensor):
        raise InputError(label, "the file", "edge_index", got=", ".join(sorted(values)) or "nothing", verb="hold")
    return values


def _assembled(label: str, tensors: dict[str, Tensor], plain: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {key: value for key, value in plain.items() if "." not in key}
    for name, tensor in tensors.items():
        key, _, part = name.partition(".")
        if not part:
            values[key] = tensor
        elif part == "array":
            values[key] = tensor.numpy()
        elif part == "offsets":
            values[key] = _strings(label, key, tensors[f"{key}.utf8"].numpy(), tensor.numpy())
        elif part == "crow":
            parts = [tensors[f"{key}.{p}"].numpy() for p in ("values", "col", "crow")]
            matrix = sparse_from_parts(f"{label}: {key}", plain[f"{key}.shape"], *parts)
            values[key] = SparseOperator.from_scipy(matrix, dtype=tensors[f"{key}.values"].dtype).csr
    return values


def _strings(label: str, key: str, utf8: Any, offsets: Any) -> Any:
    if utf8.dtype != np.uint8 or offsets.ndim != 1 or not offsets.size or offsets[0] != 0 or offsets[-1] != len(utf8):
        raise InputError(label, key, "text with offsets that fit it", got="others")
    if (np.diff(offsets) < 0).any():
        raise InputError(label, key, "text with offsets that grow", got="others")
    whole = utf8.tobytes()
    out = np.empty(len(offsets) - 1, dtype=object)
    bounds = offsets.tolist()
    out[:] = [whole[a:b].decode("utf-8") for a, b in itertools.pairwise(bounds)]
    return out


def _check(label: str, values: dict[str, Any], made: str | None, missing: str) -> None:
    """The same rules as for an .npz: sizes fit, indices exist, numbers are finite. Fills ``values`` in place."""
    edge_index = checked_edge_index(label, values["edge_index"].numpy())
    values["edge_index"] = torch.from_numpy(edge_index)
    x = values.get("x")
    nodes = x.shape[0] if isinstance(x, Tensor) and x.dim() == 2 else values.get("num_nodes")
    if not isinstance(nodes, int):
        nodes = int(edge_index.max()) + 1 if edge_index.size else 0
    if edge_index.size and edge_index.max() >= nodes:
        raise InputError(label, "edge_index", f"below the number of nodes, {nodes}", got=str(edge_index.max()))
    if isinstance(values.get("edge_weight"), Tensor):
        values["edge_weight"] = torch.from_numpy(checked_weight(label, values["edge_weight"].numpy(), edge_index.shape[1]))
    values["num_nodes"] = nodes
    _check_features(label, values, nodes, made, missing)
    _check_labels(label, values, nodes)
    ids = values.get("node_ids")
    ids = np.arange(nodes) if ids is None else ids
    values["node_ids"] = ids_of(label, np.array(ids.tolist()) if ids.dtype == object else ids, nodes) if len(ids) else ids


def _check_features(label: str, values: dict[str, Any], nodes: int, made: str | None, missing: str) -> None:
    x = values.get("x")
    if made is not None:
        values["x"] = make_features(made, values["edge_index"], nodes)
    elif not isinstance(x, Tensor):
        raise no_features(label)
    elif x.layout == torch.strided:
        values["x"] = dense_features(label, "x", x.numpy()).matrix(np.arange(nodes), missing)
    else:
        parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
        matrix = sparse_from_parts(f"{label}: x", tuple(x.shape), *parts)
        values["x"] = sparse_features(label, "x", matrix).matrix(np.arange(nodes), missing)


def _check_labels(label: str, values: dict[str, Any], nodes: int) -> None:
    y = values.get("y")
    y = torch.full((nodes,), -1) if y is None else y
    if y.shape != (nodes,):
        raise InputError(label, "y", f"one label for each of the {nodes} nodes", got=f"shape {tuple(y.shape)}", verb="have")
    if y.dtype.is_floating_point or y.dtype == torch.bool:
        raise InputError(label, "y", "class indices", got=str(y.dtype), verb="hold")
    names = values.get("class_names")
    if names is None:
        names = [str(i) for i in range(int(y.max()) + 1 if nodes else 0)]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(label, "class_names", "a list of strings", got=f"{names!r:.60}")
    values["y"] = torch.from_numpy(checked_classes(label, y.numpy(), names))
    values["class_names"] = names
    values["num_classes"] = len(names)

"""What ``write_graph`` wrote, as it is in the file. ``whole_graph`` checks it."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from safetensors import SafetensorError, safe_open
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._documents import parse_document
from chebnet2d.data.own_graph.arrays import sparse_matrix
from chebnet2d.data.own_graph.table import first_line, shown
from chebnet2d.data.own_graph.writing import FORMAT, VERSION
from chebnet2d.graph import SparseOperator
from chebnet2d.preparation.raw_columns import RawColumns


def saved_values(path: Path) -> dict[str, Any]:
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
        header = parse_document(label, "the header", metadata[FORMAT])
        version = header["version"]
        values = _assembled(label, tensors, header["attributes"]) if version == VERSION else {}
    except InputError:
        raise
    except (KeyError, AttributeError, TypeError, ValueError, UnicodeDecodeError) as error:
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
        elif part == "arrow":
            values[key] = _table(label, key, tensor)
        elif part == "array":
            values[key] = tensor.numpy()
        elif part == "offsets":
            values[key] = _strings(label, key, tensors[f"{key}.utf8"].numpy(), tensor.numpy())
        elif part == "crow":
            parts = [tensors[f"{key}.{p}"].numpy() for p in ("values", "col", "crow")]
            matrix = sparse_matrix(f"{label}: {key}", "csr", plain[f"{key}.shape"], *parts)
            values[key] = SparseOperator.from_scipy(matrix, dtype=tensors[f"{key}.values"].dtype).csr
    return values


def _table(label: str, key: str, tensor: Tensor) -> Any:
    try:
        return RawColumns(pa.ipc.open_stream(pa.py_buffer(tensor.numpy().tobytes())).read_all())
    except (pa.ArrowException, OSError) as error:
        raise InputError(label, key, "an Arrow table", reason=first_line(error)) from None


def _strings(label: str, key: str, utf8: Any, offsets: Any) -> Any:
    fit = utf8.dtype == np.uint8 and offsets.ndim == 1 and offsets.size and offsets[0] == 0 and offsets[-1] == len(utf8)
    if not fit or (np.diff(offsets) < 0).any():
        raise InputError(label, key, "text with offsets that fit it", got="others")
    whole = utf8.tobytes()
    return np.array([whole[a:b].decode("utf-8") for a, b in itertools.pairwise(offsets.tolist())], dtype=object)

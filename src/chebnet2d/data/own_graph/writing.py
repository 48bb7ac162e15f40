"""A torch_geometric ``Data`` into a safetensors file: tensors and JSON, nothing that could run when it is read."""

import errno
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d._targets import Mark, check_target, written_whole
from chebnet2d.preparation.raw_columns import RawColumns

FORMAT = "chebnet2d_graph"
VERSION = 1
_SPARSE = ("crow", "col", "values")


def write_graph(data: Data, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write a ``Data`` to ``path`` (suffix .safetensors), from where ``read_graph`` has it back, attribute by attribute.

    Tensors (dense, or sparse of two dimensions), strings, numbers, lists of these and arrays of ids can be written. The file
    appears under its name when it is complete. ``force``: also in the place of a file that ``write_graph`` did not write.
    """
    owner = "write_graph"
    path = Path(path)
    if path.suffix.lower() != ".safetensors":
        raise InputError(owner, "path", "a file with the suffix .safetensors", str(path))
    if not path.parent.is_dir():
        raise InputError(owner, "path", "in a folder that exists", str(path))
    check_target(owner, "path", path, marks=[Mark(b"", f'"{FORMAT}"'.encode())], force=force)
    if not hasattr(data, "to_dict") or getattr(data, "edge_index", None) is None:
        raise InputError(owner, "data", "a torch_geometric Data with edge_index", data)
    tensors: dict[str, Tensor] = {}
    plain: dict[str, Any] = {}
    for key, value in _raw(data.to_dict()).items():
        if "." in key:
            raise InputError(owner, "data", "made of attributes without a dot in their names", key)
        if isinstance(value, Tensor):
            _add_tensor(tensors, plain, key, value)
        elif isinstance(value, RawColumns):
            tensors[f"{key}.arrow"] = torch.frombuffer(bytearray(_arrow_bytes(value.table)), dtype=torch.uint8)
        elif isinstance(value, np.ndarray):
            _add_array(tensors, key, value)
        elif value is not None:
            plain[key] = _json_value(key, value)
    seen: set[int] = set()
    for key, tensor in tensors.items():  # safetensors refuses two tensors in one memory
        memory = tensor.untyped_storage().data_ptr()
        tensors[key] = tensor.clone() if memory in seen else tensor
        seen.add(memory)
    # One key, because safetensors writes several in any order: the same graph gives the same bytes.
    metadata = {FORMAT: json.dumps({"version": VERSION, "attributes": plain}, sort_keys=True)}
    with written_whole(path) as temporary:
        try:
            save_file(tensors, temporary, metadata=metadata)
        except SafetensorError as error:
            number = re.search(r"\(os error (\d+)\)", str(error))
            raise OSError(int(number[1]) if number else errno.EIO, str(error), str(path)) from None
    return path


def _raw(attributes: dict[str, Any]) -> dict[str, Any]:
    """With the features as they were before any preparation, which belongs to a model and is fitted anew where it is read."""
    prepared = {"preparation"}
    if attributes.get("columns") is not None:
        prepared |= {"x", "feature_names"}
    elif attributes.get("raw_x") is not None:
        prepared |= {"raw_x", "feature_names"}
        attributes = {**attributes, "x": attributes["raw_x"]}
    return {key: value for key, value in attributes.items() if key not in prepared}


def _arrow_bytes(table: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def _add_tensor(tensors: dict[str, Tensor], plain: dict[str, Any], key: str, value: Tensor) -> None:
    value = value.detach().cpu()
    if value.layout == torch.strided:
        tensors[key] = value.contiguous()
        return
    if value.dim() != 2:
        raise InputError("write_graph", key, "a dense tensor or a sparse matrix", value)
    csr = value if value.layout == torch.sparse_csr else value.to_sparse_csr()
    for part, tensor in zip(_SPARSE, (csr.crow_indices(), csr.col_indices(), csr.values()), strict=True):
        tensors[f"{key}.{part}"] = tensor.contiguous()
    plain[f"{key}.shape"] = list(csr.shape)


def _add_array(tensors: dict[str, Tensor], key: str, value: Any) -> None:
    if value.dtype.kind in "iufb":
        tensors[f"{key}.array"] = torch.from_numpy(np.ascontiguousarray(value))
    elif value.dtype.kind in "OU" and value.ndim == 1 and all(isinstance(item, str) for item in value.tolist()):
        # Strings as bytes with offsets: a header is no place for a million names.
        encoded = [item.encode("utf-8") for item in value.tolist()]
        offsets = np.concatenate([[0], np.cumsum([len(item) for item in encoded])]).astype(np.int64)
        tensors[f"{key}.utf8"] = torch.from_numpy(np.frombuffer(b"".join(encoded), dtype=np.uint8).copy())
        tensors[f"{key}.offsets"] = torch.from_numpy(offsets)
    else:
        raise InputError("write_graph", key, "an array of numbers or of strings", value)


def _json_value(key: str, value: Any) -> Any:
    rule = "a tensor, a string, a number, or a list of these"
    try:
        same = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        raise InputError("write_graph", key, rule, value) from None
    if same != value:
        raise InputError("write_graph", key, rule, value)
    return value

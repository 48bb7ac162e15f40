"""Processed datasets as safetensors files: plain tensors and texts, nothing that can run.

A file is named after the dataset and a digest of what its raw files look like (name, size, time of change), so that changed
files are read again. It is written beside and renamed: whole or not at all.
"""

import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data

from chebnet2d._targets import written_whole
from chebnet2d.data.entry import Entry

VERSION = 1  # of this layout and of the readers: raise it when either changes what a file holds
_log = logging.getLogger(__name__)


def cache_path(cache: Path, entry: Entry, raw: list[Path]) -> Path:
    hasher = hashlib.sha256(f"{VERSION} {entry.name} {entry.format} {entry.metric}".encode())
    for path in raw:
        status = path.stat()
        hasher.update(f"{path.name}:{status.st_size}:{status.st_mtime_ns};".encode())
    return cache / "processed" / f"{entry.name}-{hasher.hexdigest()[:20]}.safetensors"


def write_cache(path: Path, data: Any) -> None:
    """Best effort: without a writable cache folder everything works, only slower."""
    from safetensors.torch import save_file

    tensors: dict[str, torch.Tensor] = {}
    attributes: dict[str, Any] = {}
    for key, value in data.to_dict().items():
        if not isinstance(value, torch.Tensor):
            attributes[key] = value
        elif value.layout == torch.sparse_csr:
            tensors[f"{key}.crow"], tensors[f"{key}.col"] = value.crow_indices(), value.col_indices()
            tensors[f"{key}.values"] = value.values()
            attributes[f"{key}.shape"] = list(value.shape)
        else:
            tensors[key] = value.contiguous()
    try:
        with written_whole(path) as temporary:
            save_file(tensors, temporary, metadata={"attributes": json.dumps(attributes)})
    except Exception as error:  # safetensors has an exception of its own for a full or read-only disk
        _log.warning("cache folder not writable, the next load will read the raw files again: %s", error)


def read_cache(path: Path) -> Data | None:
    """The dataset, or None if the file is missing or broken: then the raw files are read again."""
    from safetensors import SafetensorError, safe_open

    from chebnet2d.graph import SparseOperator

    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as stored:
            attributes = json.loads(stored.metadata()["attributes"])
            tensors = {key: stored.get_tensor(key) for key in stored.keys()}  # noqa: SIM118
        for key in [key[: -len(".crow")] for key in tensors if key.endswith(".crow")]:
            import scipy.sparse

            parts = tuple(tensors.pop(f"{key}.{part}").numpy() for part in ("values", "col", "crow"))
            matrix = scipy.sparse.csr_array(parts, shape=tuple(attributes.pop(f"{key}.shape")))
            tensors[key] = SparseOperator.from_scipy(matrix, dtype=torch.float32).csr
        return Data(**tensors, **attributes)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        _log.warning("ignoring a broken cache file: %s", error)
        return None

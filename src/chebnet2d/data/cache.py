"""Processed datasets as safetensors files: plain tensors and texts, nothing that can run.

A file is named after the dataset and a digest of what its raw files look like (name, size, time of change), so that changed
files are read again. It is written under another name and then renamed, so that it is whole or not there.
"""

import hashlib
import logging
from pathlib import Path

from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.catalogue import Entry
from chebnet2d.data.own_graph.saved_graph import saved_values
from chebnet2d.data.own_graph.writing import write_graph

VERSION = 2  # raised when this layout or a raw format changes what a file holds
_log = logging.getLogger(__name__)


def cache_path(cache: Path, entry: Entry, raw: list[Path]) -> Path:
    hasher = hashlib.sha256(f"{VERSION} {entry.name} {entry.format} {entry.metric}".encode())
    for path in raw:
        status = path.stat()
        hasher.update(f"{path.name}:{status.st_size}:{status.st_mtime_ns};".encode())
    return cache / "processed" / f"{entry.name}-{hasher.hexdigest()[:20]}.safetensors"


def write_cache(path: Path, data: Data) -> None:
    """Best effort: without a writable cache folder everything works, only slower."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_graph(data, path, force=True)  # a broken file in its own place is of no use to anybody
    except Exception as error:  # safetensors has an exception of its own for a full or read-only disk
        _log.warning("cache folder not writable, the next load will read the raw files again: %s", error)


def read_cache(path: Path) -> Data | None:
    """The dataset, or None if the file is missing or broken: then the raw files are read again."""
    if not path.is_file():
        return None
    try:
        return Data(**saved_values(path))
    except InputError as error:
        _log.warning("ignoring a broken cache file: %s", error)
        return None

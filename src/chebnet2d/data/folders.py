"""The folders: raw files are below the data root (which may be read-only), processed ones in the cache folder."""

import os
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError


def cache_folder() -> Path:
    """``$CHEBNET2D_CACHE``, else ``~/.cache/chebnet2d``."""
    return Path(os.environ.get("CHEBNET2D_CACHE") or Path.home() / ".cache" / "chebnet2d")


def data_root(root: Any = None) -> Path:
    """The given root, else ``$CHEBNET2D_DATA``, else ``data`` in the cache folder."""
    if root is None:
        return Path(os.environ.get("CHEBNET2D_DATA") or cache_folder() / "data")
    if not isinstance(root, str | Path):
        raise InputError("data", "root", "a path", got=type(root).__name__)
    return Path(root)

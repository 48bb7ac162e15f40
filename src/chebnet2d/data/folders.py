"""The folders: raw files are below the data root (which may be read-only), processed ones in the cache folder.

A folder of raw files is made elsewhere and put in its place by a rename. What it replaces is renamed first and deleted then:
whenever that is interrupted, no part of a folder is left under a name that means something.
"""

import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._targets import lock_handle, sync_file, sync_folder


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


@contextmanager
def locked_beside(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """One writer at a time of the folders beside this one; False if another has the lock, unless it is waited for.

    The system removes the lock when the process ends, in whatever way. What killed writers of this folder left is deleted.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    if os.name != "posix":  # no locks on folders
        yield True
        return
    handle = os.open(folder.parent, os.O_RDONLY)
    try:
        if not lock_handle(handle, wait=wait):
            yield False
            return
        litter = re.compile(rf"\.{re.escape(folder.name)}\.[0-9a-f]{{8}}\.tmp")
        for path in folder.parent.iterdir():
            if litter.fullmatch(path.name):
                shutil.rmtree(path)
        yield True
    finally:
        os.close(handle)


def busy(owner: str, folder: Path) -> InputError:
    return InputError(owner, str(folder), "written by one process at a time", got="another one at work")


def temporary_beside(folder: Path) -> Path:
    """A name for a folder that is being made, or that is on its way out."""
    return folder.parent / f".{folder.name}.{uuid.uuid4().hex[:8]}.tmp"


def put_in_place(made: Path, folder: Path) -> None:
    """``made`` becomes ``folder``, with all its files on the disk. An old folder is gone."""
    for path in sorted(made.rglob("*")):
        if path.is_dir():
            sync_folder(path)
        else:
            sync_file(path)
    sync_folder(made)
    aside = temporary_beside(folder)
    if folder.is_dir():
        folder.rename(aside)
    made.rename(folder)
    sync_folder(folder.parent)
    if aside.is_dir():
        shutil.rmtree(aside)

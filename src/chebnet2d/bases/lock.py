"""One writer at a time in a folder of bases."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chebnet2d.bases.blocks import disk_errors
from chebnet2d.bases.manifest import BasesError


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Make the folder and lock it. The system removes the lock when the process ends, in whatever way."""
    import fcntl

    with disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BasesError("precompute", str(out), "one writer", got="another process at work in it", verb="have") from None
        yield
    finally:
        os.close(descriptor)

"""Files to write: told before the work whether they can be, and whole or not at all."""

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chebnet2d._checks import InputError


def check_target(owner: str, name: str, path: Path, keep: Sequence[Path | None] = ()) -> None:
    """Whether a file can be written there. ``keep``: files that are read, which it must not replace."""
    try:
        if path.is_dir():
            raise InputError(owner, name, "a file", got=f"the folder {str(path)!r}")
        if path.exists() and not path.is_file():  # to take the place of a device would end it
            raise InputError(owner, name, "a file", got=f"{str(path)!r}, which is something else")
        for other in keep:
            if other is not None and path.exists() and other.exists() and path.samefile(other):
                raise InputError(owner, name, "another file than those that are read", str(path))
        folder = next(parent for parent in path.absolute().parents if parent.exists())
    except OSError as error:
        raise InputError(owner, name, "a file", got=f"{str(path)!r}: {error.strerror}") from None
    if not folder.is_dir():
        raise InputError(owner, name, "in a folder", got=f"{str(path)!r}, where {str(folder)!r} is a file")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(owner, name, "in a folder that you may write to", str(path))


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """The name of a temporary file beside ``path``, which takes its place at the end, once it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")  # not mkstemp, whose files only their owner may read
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

"""Files to write: told before the work whether they can be, never over what others wrote, and whole or not at all."""

import errno
import os
import re
import socket
import tempfile
import time
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from chebnet2d._checks import InputError

_PROBE = 2**16  # bytes that must fit before the work begins
_LOOK = 2**16  # bytes at both ends of a file in which a mark is looked for
_DAY = 86_400.0
_POSIX = os.name == "posix"
DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""A disk that is full, over its quota, read-only or broken."""


class Mark(NamedTuple):
    """What tells a file of ours: how it begins, and what its first or last 64 KiB hold."""

    start: bytes
    inside: bytes = b""


def check_target(
    owner: str,
    name: str,
    path: Path,
    keep: Sequence[Path | None] = (),
    *,
    marks: Sequence[Mark] | None = None,
    force: bool | None = False,
) -> None:
    """Whether a file can be written there, tried on the disk.

    ``keep``: files that are read, which it must not replace. ``marks``: of the files that it may replace; any other file that is
    not empty is replaced with ``force`` alone (None: the caller has no such option). No marks: the caller has a check of its own.
    """
    try:
        if path.is_dir():
            raise InputError(owner, name, "a file", got=f"the folder {str(path)!r}")
        if path.exists() and not path.is_file():  # to take the place of a device would end it
            raise InputError(owner, name, "a file", got=f"{str(path)!r}, which is something else")
        for other in keep:
            if other is not None and path.exists() and other.exists() and path.samefile(other):
                raise InputError(owner, name, "another file than those that are read", str(path))
        if marks is not None and not force and path.exists() and not is_ours(path, marks):
            hint = "" if force is None else "It is replaced with {}."
            got = f"{str(path)!r}, which is something else"
            raise InputError(owner, name, "a new file or one that chebnet2d wrote", got=got, hint=hint, mentions=("force",))
        folder = next(parent for parent in path.absolute().parents if parent.exists())
    except OSError as error:
        raise InputError(owner, name, "a file", got=f"{str(path)!r}: {error.strerror}") from None
    if not folder.is_dir():
        raise InputError(owner, name, "in a folder", got=f"{str(path)!r}, where {str(folder)!r} is a file")
    check_folder(owner, name, path)


def check_folder(owner: str, name: str, path: Path) -> None:
    """Whether there is room and permission to write ``path``: bytes are written to a file without a name, and are gone again."""
    folder = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.is_dir())
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(owner, name, "in a folder that you may write to", str(path))
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE))
    except OSError as error:
        raise InputError(owner, name, "on a disk with room for it", got=f"{str(path)!r}: {error.strerror}") from None


def is_ours(path: Path, marks: Sequence[Mark]) -> bool:
    """Whether the file is empty or has one of the marks."""
    with path.open("rb") as file:
        head = file.read(_LOOK)
        file.seek(max(0, path.stat().st_size - _LOOK))
        tail = file.read(_LOOK)
    return not head or any(head.startswith(mark.start) and (mark.inside in head or mark.inside in tail) for mark in marks)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """The name of a temporary file beside ``path``, which takes its place at the end, once it is on the disk.

    What earlier writers of the same file left when they were killed is removed. An error of the disk names ``path``.
    """
    temporary = path.with_name(f".{path.name}.{_host()}_{os.getpid()}_{uuid.uuid4().hex[:12]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_litter(path)
        temporary.touch()
        mode = temporary.stat().st_mode  # by the umask; what replaces the file by one of mkstemp leaves it to its owner alone
        yield temporary
        temporary.chmod(mode)
        sync_file(temporary)
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
    finally:
        with suppress(OSError):  # on a disk that has become read-only
            temporary.unlink(missing_ok=True)


def _remove_litter(path: Path) -> None:
    """Temporary files of this target whose writer has ended; of writers on other machines, those that are a day old."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.(?:([0-9a-f]{{8}})_(\d+)_)?[0-9a-f]+\.tmp")
    for found in path.parent.iterdir():
        if (match := pattern.fullmatch(found.name)) is None:
            continue
        host, process = match.groups()
        with suppress(OSError):
            if not _is_alive(int(process)) if host == _host() else time.time() - found.stat().st_mtime > _DAY:
                found.unlink()


def _host() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def _is_alive(process: int) -> bool:
    if not _POSIX:  # Windows knows no signal 0: what is sent there is Ctrl-C
        import psutil

        return psutil.pid_exists(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def lock_handle(handle: int, *, wait: bool = False) -> bool:
    """Whether this process now has the lock on an open file or folder, which the system removes when the process ends.

    Where the system has no such locks (Windows), or the disk (some networks), all do without: the answer is True.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def sync_file(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("r+b") as file:  # Windows does it for files that are open for writing alone
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: a file that is, under a name that is not, is lost with the power."""
    if not _POSIX:  # elsewhere a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems refuse it
            os.fsync(descriptor)
    finally:
        os.close(descriptor)

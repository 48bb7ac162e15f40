"""Attacks stay in a temporary folder: processes are forked for them, and end when they write anywhere else.

The parent has imported everything and has one thread, so that a fork costs milliseconds.
"""

import faulthandler
import os
import resource
import signal
import sys
import tempfile
import traceback
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

OUTSIDE, FAILED = 97, 98
TOO_LONG = (
    signal.SIGALRM,
    signal.SIGXCPU,
    signal.SIGKILL,
)  # how a process ends that does not end; the last one without a warning
_WAITING = 10
_CHANGES = (
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "sqlite3.connect",
)


class OutsideError(Exception):
    """An attack would touch a file that is not its own."""


class End(NamedTuple):
    """How a forked process ended: its exit code, or the signal that ended it, and what it had to say."""

    code: int
    signal: int
    text: str


def checked_root(path: Path) -> Path:
    """The folder of an attack: a folder below the system's temporary one, and not that one itself."""
    root, temporary = Path(path).resolve(), Path(tempfile.gettempdir()).resolve()
    if temporary not in root.parents or not root.is_dir():
        raise OutsideError(f"an attack needs a folder below {temporary}, got {root}")
    return root


def forked(root: Path, work: Callable[[], Any], *, seconds: int = 60, address_space: int | None = None) -> End:
    """Run ``work`` in a process of its own, which may write below ``root`` only.

    It may compute for ``seconds``, and last a few times as long, since others use the machine.
    """
    root = checked_root(root)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            os.close(read)
            faulthandler.disable()  # pytest's would print the stack of a death that is expected
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if address_space is not None:
                resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            signal.alarm(_WAITING * seconds)
            guard(root)
            work()
            code = 0
        except OutsideError as error:
            os.write(write, str(error).encode())
            code = OUTSIDE
        except BaseException:
            os.write(write, traceback.format_exc()[-4000:].encode())
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        text = stream.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return End(-1, os.WTERMSIG(status), text)
    if os.WEXITSTATUS(status) == OUTSIDE:
        raise OutsideError(text)
    return End(os.WEXITSTATUS(status), 0, text)


def guard(root: Path) -> None:
    """From now on this process cannot change a file that is not below ``root``. There is no way back."""
    sys.dont_write_bytecode = True
    harmless = {Path("/dev/null"), Path(f"/proc/{os.getpid()}/clear_refs")}

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        for path in changed_paths(event, arguments):
            if root not in (path, *path.parents) and path not in harmless:
                raise OutsideError(f"{event} of {path}, which is not below {root}")

    sys.addaudithook(hook)


def changed_paths(event: str, arguments: tuple[Any, ...]) -> list[Path]:
    """The files that an audit event is about to change; none for all others."""
    if event == "open":
        path, _, flags = arguments
        if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
            return []
        named = [(path, -1)]
    elif event == "os.rename":
        named = [(arguments[0], arguments[2]), (arguments[1], arguments[3])]
    elif event in ("os.remove", "os.rmdir"):
        named = [(arguments[0], arguments[1])]
    elif event in _CHANGES:
        named = [(arguments[0], -1)]
    else:
        return []
    return [found for path, folder in named if (found := _resolved(path, folder)) is not None]


def _resolved(path: Any, folder: int) -> Path | None:
    """An absolute path, without asking whether it exists. A descriptor was opened before."""
    if isinstance(path, int) or path is None:
        return None
    text = os.fsdecode(path)
    if text.startswith("file:"):  # how SQLite is asked
        text = urllib.parse.unquote(urllib.parse.urlsplit(text).path)
    if text == ":memory:" or not text:
        return None
    base = path_of(folder) if folder is not None and folder >= 0 else Path.cwd()
    absolute = Path(os.path.normpath(base / text))
    return absolute.parent.resolve() / absolute.name


def path_of(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}").readlink()

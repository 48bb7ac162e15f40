"""What a process leaves that is killed before its k-th change of the disk, for every k, and what the next one makes of that.

A change is a call that makes, writes, cuts, synchronises, renames or deletes a file or a folder, or a statement of SQL. Files
that Python writes are written in two halves, with a change between them: so a file is also left truncated.

A kill before a change leaves the folder as it is at that moment. So the work is done once, with a copy of its folder before each
change, instead of once for every kill; a test compares the copies with what real kills leave.
"""

import builtins
import io
import os
import shutil
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sandbox import End, changed_paths, checked_root, forked, path_of

Work = Callable[[Path], None]
_SYNCHRONISING = ("fsync", "fdatasync")
_BY_DESCRIPTOR = ("write", "pwrite", *_SYNCHRONISING, "ftruncate", "posix_fallocate")


class NotRecovered(AssertionError):
    """After a kill, the same work did not end as if there had been none."""


def kill_everywhere(root: Path, work: Work, check: Work, *, prepare: Work | None = None, after_kill: Work | None = None) -> int:
    """``work(folder)`` as if killed before each of its changes in turn, and run again. Returns the number of crash points.

    ``prepare`` fills the folder before the work, ``check`` raises unless the result is that of undisturbed work, and
    ``after_kill`` raises if what a kill has left says something that is not so.
    """
    root = checked_root(root)
    nothing: Work = lambda _: None
    prepare, after_kill = prepare or nothing, after_kill or nothing
    folder, copies = root / "folder", root / "copies"
    for path in (folder, copies):
        path.mkdir()
    _sound(forked(root, lambda: (prepare(folder), copy_before_changes(folder, copies), work(folder))), "without a kill")
    _sound(forked(root, lambda: check(folder)), "the undisturbed work")
    points = sorted(copies.iterdir())
    for point, copy in enumerate(points, 1):
        shutil.rmtree(folder)
        copy.rename(folder)  # to where the work was: it may have written that down
        stages = {"what is left by": after_kill, "the same work after": work, "the result after": check}
        _sound(forked(root, lambda: _carried_out(stages, folder, f"a kill at {point}")), "afterwards")
    return len(points)


def _in_memory(_: int) -> None:
    """Instead of synchronising, which takes most of the time: what a killed process has written is not lost with it."""


def _carried_out(stages: dict[str, Work], folder: Path, what: str) -> None:
    for name in _SYNCHRONISING:
        setattr(os, name, _in_memory)
    for name, stage in stages.items():
        try:
            stage(folder)
        except BaseException as error:
            error.add_note(f"{name} {what}")
            raise


def kill_at(point: int, folder: Path) -> None:
    """From now on changes below the folder are counted, and before the one of that number this process is killed."""

    def kill(number: int) -> None:
        if number == point:
            os.kill(os.getpid(), signal.SIGKILL)

    before_each_change(folder, kill)


def copy_before_changes(folder: Path, copies: Path) -> None:
    """From now on the folder is copied before each change below it."""

    def copy(number: int) -> None:
        to = copies / f"{number:04d}"
        while True:
            try:
                shutil.copytree(folder, to, symlinks=True)
            except shutil.Error:  # another thread was in the middle of its own change, and is not held up twice
                shutil.rmtree(to)
            else:
                return

    before_each_change(folder, copy)


def before_each_change(folder: Path, act: Callable[[int], Any]) -> None:
    """From now on changes below the folder are counted, and ``act`` is called with its number before each."""
    done = 0
    one_at_a_time = threading.Lock()

    def tick(path: Any) -> None:
        nonlocal done
        if folder in (path, *path.parents):
            with one_at_a_time:
                done += 1
                act(done)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        for path in changed_paths(event, arguments)[:1]:
            tick(path)

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(descriptor: int, *arguments: Any) -> Any:
            tick(path_of(descriptor))
            return call(descriptor, *arguments)

        return run

    class InHalves(io.FileIO):
        def write(self, content: Any) -> int:
            view = memoryview(content).cast("B")
            tick(path_of(self.fileno()))
            if len(view) < 2:
                return int(super().write(view))
            first = int(super().write(view[: len(view) // 2]))
            tick(path_of(self.fileno()))
            return first + int(super().write(view[first:]))

    original = io.open

    def opened(file: Any, mode: str = "r", buffering: int = -1, *text: Any, **more: Any) -> Any:
        if not set(mode) & set("wax") or "+" in mode or isinstance(file, int) or more.keys() - {"encoding", "errors", "newline"}:
            return original(file, mode, buffering, *text, **more)
        raw = InHalves(os.fspath(file), mode.replace("b", "").replace("t", ""))
        if buffering == 0:
            return raw
        stream = io.BufferedWriter(raw)
        if "b" in mode:
            return stream
        more.update(zip(("encoding", "errors", "newline"), text, strict=False))
        more["encoding"] = more.get("encoding") or "utf-8"
        return io.TextIOWrapper(stream, line_buffering=buffering == 1, **more)

    connect = sqlite3.connect

    def connected(*arguments: Any, **more: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **more)
        connection.set_trace_callback(lambda _: tick(folder))
        return connection

    sys.addaudithook(hook)
    sqlite3.connect = connected
    for name in _BY_DESCRIPTOR:
        setattr(os, name, counted(_in_memory if name in _SYNCHRONISING else getattr(os, name)))
    io.open = builtins.open = opened  # type: ignore[assignment]


def _sound(end: End, what: str) -> None:
    if end.code != 0:
        raise NotRecovered(f"{what}: ended with {end.code or f'signal {end.signal}'}\n{end.text}")


def files_of(folder: Path, ignore: Sequence[str] = (".lock",)) -> dict[str, bytes]:
    """All files below a folder with what they hold."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in ignore)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def same_files(folder: Path, reference: dict[str, bytes], ignore: Sequence[str] = (".lock",)) -> None:
    found = files_of(folder, ignore)
    assert found.keys() == reference.keys(), f"files {sorted(found)}, without a kill {sorted(reference)}"
    different = [name for name in found if found[name] != reference[name]]
    assert not different, f"other content than without a kill: {different}"

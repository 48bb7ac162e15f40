"""Damaged inputs, one after the other in forked processes: each is read, or refused in a sentence, within a second's memory.

A process goes through a batch. Before each input it notes its number; when the process dies, the parent knows which input it was.
"""

import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chebnet2d import InputError
from chebnet2d._sizes import peak_bytes, resident_bytes
from mutations import damaged
from sandbox import TOO_LONG, checked_root, forked

GROWTH = 2**30  # bytes that reading an input may take at most
SECONDS = 60  # for a batch
_BATCH = 25
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE)
_ADDRESS_SPACE = 24 * 2**30  # so that a mistake does not take the machine with it


@dataclass(frozen=True)
class Format:
    """``sound``: an input that is read without complaint. ``read``: what is tried, on the path of a damaged one.

    ``alone``: it is read in a process of its own, with a limit of memory, whose death is a sentence of its parent.
    ``wrapped``: puts what was damaged into a container whose own sums and lengths are right, so that the damage is read at all.
    """

    file: str
    sound: bytes
    read: Callable[[Path], Any]
    prepare: Callable[[Path], Any] | None = None
    wrapped: Callable[[bytes], bytes] = bytes
    alone: bool = False


@dataclass(frozen=True)
class Finding:
    format: str
    seed: int
    what: str


def fuzz(name: str, kind: Format, root: Path, seeds: range) -> tuple[list[Finding], int]:
    """(what went wrong, how many of the inputs were read without complaint)."""
    root = checked_root(root)
    note, read = root / f"{name}.seed", root / f"{name}.read"
    folder = root / name
    folder.mkdir()
    if kind.prepare is not None:
        kind.prepare(folder)
    (folder / kind.file).write_bytes(kind.wrapped(kind.sound))
    end = forked(root, lambda: kind.read(folder / kind.file))
    if end.code != 0:
        raise AssertionError(f"{name}: the sound file is not read: {end.text}")
    read.write_text("")
    findings = []
    start = seeds.start
    while start < seeds.stop:
        batch = range(start, min(start + _BATCH, seeds.stop))
        end = forked(root, lambda: _batch(kind, folder, batch, note, read), seconds=SECONDS, address_space=_ADDRESS_SPACE)
        start = batch.stop
        if end.code != 0:
            last = int(note.read_text())
            what = "took too long" if end.signal in TOO_LONG else signal.Signals(end.signal).name if end.signal else end.text
            if not (kind.alone and end.signal in _CRASHES):
                findings.append(Finding(name, last, what))
            start = last + 1
    return findings, len(read.read_text())


def _batch(kind: Format, folder: Path, seeds: range, note: Path, read: Path) -> None:
    warnings.simplefilter("error")
    for seed in seeds:
        note.write_text(str(seed))
        path = folder / kind.file
        path.write_bytes(kind.wrapped(damaged(kind.sound, seed)))
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = resident_bytes()
        refused = False
        try:
            kind.read(path)
        except InputError as error:
            refused = True
            if "\n" in str(error):
                raise AssertionError(f"a sentence of several lines: {error}") from None
        grown = peak_bytes() - before
        if grown > GROWTH and not kind.alone:
            raise AssertionError(f"took {grown >> 20} MiB")
        if not refused:
            with read.open("a") as file:
                file.write(".")

"""The harness finds what it is there for: work that is not safe fails."""

import contextlib
import os
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from kills import NotRecovered, copy_before_changes, files_of, kill_at, kill_everywhere, same_files
from sandbox import forked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def whole(folder: Path) -> None:
    same_files(folder, {"a": b"12345678"})


def test_a_file_that_is_written_in_place_is_found_truncated(tmp_path):
    def careless(folder: Path) -> None:
        if not (folder / "a").exists():  # "it is there, so it is done"
            (folder / "a").write_bytes(b"12345678")

    with pytest.raises(NotRecovered, match="other content than without a kill"):
        kill_everywhere(tmp_path, careless, whole)


def test_litter_is_found(tmp_path):
    def untidy(folder: Path) -> None:
        temporary = folder / f"{os.getpid()}.tmp"
        temporary.write_bytes(b"12345678")
        temporary.replace(folder / "a")

    with pytest.raises(NotRecovered, match="tmp"):
        kill_everywhere(tmp_path, untidy, whole)


def test_careful_work_survives_and_its_points_are_counted(tmp_path):
    def careful(folder: Path) -> None:
        temporary = folder / ".tmp"
        with temporary.open("wb") as file:
            file.write(b"12345678")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(folder / "a")

    # open, first half, second half, fsync, rename
    assert kill_everywhere(tmp_path, careful, whole) == 5


def test_what_a_kill_leaves_is_looked_at(tmp_path):
    def liar(folder: Path) -> None:
        (folder / "done").write_bytes(b"")
        (folder / "a").write_bytes(b"12345678")

    def true(folder: Path) -> None:
        assert not (folder / "done").exists() or (folder / "a").exists(), "it says that it is done"

    with pytest.raises(NotRecovered, match="it says that it is done"):
        kill_everywhere(tmp_path, liar, lambda _: None, after_kill=true)


def test_copies_are_what_kills_leave(tmp_path):
    def work(folder: Path) -> None:
        (folder / "sub").mkdir()
        with (folder / "sub" / ".tmp").open("wb") as file:
            file.write(b"12345678")
            os.fsync(file.fileno())
            file.write(b"lost in a buffer")
        (folder / "sub" / ".tmp").replace(folder / "a")
        with contextlib.closing(sqlite3.connect(folder / "b.sqlite", isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE t (x)")
            connection.execute("INSERT INTO t VALUES (1)")

    folder, copies = tmp_path / "undisturbed", tmp_path / "copies"
    for path in (folder, copies):
        path.mkdir()
    assert forked(tmp_path, lambda: (copy_before_changes(folder, copies), work(folder))).code == 0
    points = sorted(copies.iterdir())
    assert len(points) >= 10
    for point, copy in enumerate(points, 1):
        killed = tmp_path / f"killed-{point}"
        killed.mkdir()
        end = forked(tmp_path, lambda: (kill_at(point, killed), work(killed)))
        assert end.signal == signal.SIGKILL
        left, copied = files_of(killed), files_of(copy)
        assert left.keys() == copied.keys()
        # SQLite salts its log at random, and the index beside it is rebuilt from the log: their sizes are compared.
        assert {name: len(content) for name, content in left.items()} == {name: len(content) for name, content in copied.items()}
        assert all(left[name] == copied[name] for name in left if not name.endswith(("-wal", "-shm")))

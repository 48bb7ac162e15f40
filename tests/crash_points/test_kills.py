"""The harness finds what it is there for: work that is not safe fails."""

import os
import sys
from pathlib import Path

import pytest

from kills import NotRecovered, kill_everywhere, same_files

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

"""Attacks stay in their folder."""

import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import pytest

from fuzz import Format, fuzz
from kills import kill_everywhere
from sandbox import TOO_LONG, OutsideError, checked_root, forked

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@pytest.mark.parametrize("path", ["/", "/usr", "~", tempfile.gettempdir(), "no-such-folder"])
def test_a_folder_elsewhere_is_refused(path):
    for attack in (
        checked_root,
        lambda root: kill_everywhere(root, print, print),
        lambda root: fuzz("any", Format("file", b"", print), root, range(1)),
        lambda root: forked(root, print),
    ):
        with pytest.raises(OutsideError, match="an attack needs a folder below"):
            attack(Path(path).expanduser())


OTHERS = {
    "write": lambda path: path.write_text("changed"),
    "append": lambda path: path.open("ab"),
    "open": lambda path: os.open(path, os.O_RDWR),
    "unlink": lambda path: path.unlink(),
    "rename": lambda path: path.rename(path.with_name("other")),
    "rename here": lambda path: path.rename("here"),
    "mkdir": lambda path: path.with_name("folder").mkdir(),
    "rmtree": lambda path: shutil.rmtree(path.parent),
    "truncate": lambda path: os.truncate(path, 0),
    "symlink out": lambda path: (Path("link").symlink_to(path.parent), Path("link", path.name).write_text("changed")),
    "database": lambda path: sqlite3.connect(path),
}


@pytest.mark.parametrize("how", OTHERS)
def test_a_file_of_others_cannot_be_touched(tmp_path, how):
    root, other = tmp_path / "attack", tmp_path / "others" / "file"
    root.mkdir()
    other.parent.mkdir()
    other.write_text("as it was")

    def work():
        os.chdir(root)
        OTHERS[how](other)

    with pytest.raises(OutsideError, match="which is not below"):
        forked(root, work)
    assert [path.name for path in other.parent.iterdir()] == ["file"]
    assert other.read_text() == "as it was"


def test_how_a_process_ended_is_told(tmp_path):
    assert forked(tmp_path, lambda: (tmp_path / "own").write_text("fine")).code == 0
    assert "ZeroDivisionError" in forked(tmp_path, lambda: 1 // 0).text
    assert forked(tmp_path, lambda: os.kill(os.getpid(), signal.SIGSEGV)).signal == signal.SIGSEGV
    assert forked(tmp_path, lambda: time.sleep(60), seconds=1).signal == signal.SIGALRM
    assert forked(tmp_path, lambda: [None for _ in iter(int, 1)], seconds=1).signal in TOO_LONG

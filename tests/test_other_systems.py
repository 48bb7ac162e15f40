"""Windows and macOS, as far as they can be faked here: what is not there is not imported, not opened, not sent.

Nothing of this has run on the real systems.
"""

import ast
import builtins
import importlib
import os
import sys
from pathlib import Path

import psutil
import pytest

import chebnet2d
from chebnet2d import _sizes, _targets
from chebnet2d.training import allocation

ABSENT = ("fcntl", "resource", "termios", "pwd", "grp")


@pytest.fixture
def windows(monkeypatch):
    """No fcntl, no resource; folders cannot be opened; files that are open for reading alone cannot be synchronised."""
    real_import, real_fsync, real_open = builtins.__import__, os.fsync, os.open

    def without(name, *arguments, **more):
        if name in ABSENT:
            raise ImportError(name)
        return real_import(name, *arguments, **more)

    def fsync(handle):
        import fcntl as real  # this fake itself runs on POSIX

        if real.fcntl(handle, real.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise PermissionError("open for reading alone")
        real_fsync(handle)

    def opened(path, *arguments, **more):
        assert not Path(path).is_dir(), "a folder cannot be opened"
        return real_open(path, *arguments, **more)

    def killed(process, number):
        raise AssertionError("signal 0 is Ctrl-C on Windows")

    import fcntl  # noqa: F401  # loaded before it is hidden

    monkeypatch.setattr(_targets, "_POSIX", False)
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "kill", killed)
    monkeypatch.setattr(psutil, "pid_exists", lambda process: process == os.getpid())
    monkeypatch.delattr(os, "pwrite")
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    return lambda: monkeypatch.setattr(builtins, "__import__", without)


def imports_of_posix(path):
    """Lines that import what POSIX alone has, outside of a ``try`` that expects an ImportError."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tries = [node for node in ast.walk(tree) if isinstance(node, ast.Try)]
    expecting = [node for node in tries if any("ImportError" in ast.dump(handler) for handler in node.handlers)]
    expected = {id(inner) for node in expecting for line in node.body for inner in ast.walk(line)}
    for node in ast.walk(tree):
        names = [name.name for name in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None)]
        if isinstance(node, ast.Import | ast.ImportFrom) and set(names) & set(ABSENT) and id(node) not in expected:
            yield f"{path.name}:{node.lineno}"


def test_what_posix_alone_has_is_imported_where_its_absence_is_expected(tmp_path):
    source = Path(chebnet2d.__file__).parent
    assert [place for path in source.rglob("*.py") for place in imports_of_posix(path)] == []
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import fcntl\ntry:\n    import resource\nexcept ImportError:\n    pass\n")
    assert list(imports_of_posix(wrong)) == ["wrong.py:1"]


def test_files_are_written_whole_on_windows(windows, tmp_path):
    litter = tmp_path / f".file.{_targets._host()}_999999999_0123456789ab.tmp"
    litter.write_text("left by a process that has ended")
    with _targets.written_whole(tmp_path / "file") as temporary:
        temporary.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert _targets._is_alive(os.getpid())


def test_locks_are_done_without_on_windows(windows, tmp_path):
    windows()
    handle = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    assert _targets.lock_handle(handle)
    os.close(handle)


def test_a_lock_is_taken_once(tmp_path):
    first, second = (os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR) for _ in range(2))
    assert _targets.lock_handle(first)
    assert not _targets.lock_handle(second)
    os.close(first)
    assert _targets.lock_handle(second)
    os.close(second)


def test_sizes_without_proc_and_resource(windows, monkeypatch):
    monkeypatch.setattr(_sizes, "_kernel_says", lambda *_: None)
    held = psutil.Process().memory_info().rss
    assert _sizes.peak_bytes() > held / 2, "of resource, as on macOS"
    windows()
    assert 0.5 < _sizes.peak_bytes() / held < 2
    assert 0.5 < _sizes.resident_bytes() / held < 2
    assert 0 < _sizes.free_bytes() <= psutil.virtual_memory().total


def test_the_allocator_of_other_systems_is_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(allocation.ctypes, "CDLL", lambda *_: pytest.fail("no glibc here"))
    allocation.keep_freed_memory.__wrapped__()


def test_blocks_are_written_without_pwrite(windows, tmp_path):
    blocks = importlib.import_module("chebnet2d.bases.blocks")
    handle = os.open(tmp_path / "block", os.O_CREAT | os.O_RDWR)
    assert blocks._write_at(handle, memoryview(b"later"), 3) == 5
    assert blocks._write_at(handle, memoryview(b"now"), 0) == 3
    os.close(handle)
    assert (tmp_path / "block").read_bytes() == b"nowlater"

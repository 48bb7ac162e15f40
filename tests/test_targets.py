"""Files that are written whole, with the mode of the umask, and what killed writers left."""

import os
import subprocess
import sys

import pytest

from chebnet2d import InputError
from chebnet2d._targets import Mark, check_target, written_whole
from chebnet2d.data import load, write_graph


def test_litter_of_dead_writers_is_removed_and_that_of_living_ones_is_not(tmp_path):
    target = tmp_path / "t.csv"
    code = "import os, sys; from pathlib import Path; from chebnet2d._targets import written_whole\n"
    code += "with written_whole(Path(sys.argv[1])) as file: file.write_text('half'); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, str(target)], check=False).returncode == 9
    (litter,) = tmp_path.iterdir()
    (tmp_path / ".other.csv.0123abcd.tmp").write_text("of another target")
    with written_whole(target) as first:  # a writer that is alive, as another thread or process would be
        first.write_text("first")
        assert not litter.exists()
        with written_whole(target) as second:
            second.write_text("second")
        assert target.read_text() == "second"
    assert target.read_text() == "first"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.csv.0123abcd.tmp", "t.csv"]


def test_old_litter_of_other_machines_is_removed(tmp_path):
    old, new = tmp_path / ".t.csv.00000000_1_0123abcd.tmp", tmp_path / ".t.csv.00000000_2_0123abcd.tmp"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (0, 0))
    with written_whole(tmp_path / "t.csv") as file:
        file.write_text("whole")
    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_graphs_have_the_mode_of_other_files(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        path = write_graph(load("csbm", nodes=30), tmp_path / "g.safetensors")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == mode


def test_graphs_replace_graphs_alone(tmp_path):
    data, path = load("csbm", nodes=30), tmp_path / "g.safetensors"
    path.write_bytes(b"weights of somebody")
    with pytest.raises(InputError, match=r"path must be a new file or one that chebnet2d wrote.* It is replaced with force=\."):
        write_graph(data, path)
    assert path.read_bytes() == b"weights of somebody"
    write_graph(data, path, force=True)
    write_graph(data, path)


def test_a_mark_is_both_its_parts(tmp_path):
    path = tmp_path / "p"
    for content, ours in ((b"", True), (b"PAR1 chebnet2d", True), (b"PAR1", False), (b"chebnet2d", False)):
        path.write_bytes(content)
        try:
            check_target("test", "out", path, marks=[Mark(b"PAR1", b"chebnet2d")])
        except InputError:
            assert not ours
        else:
            assert ours

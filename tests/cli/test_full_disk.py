"""A disk without room: found out before the work, and a sentence where it fills up during the work.

A limit on the size of files (``RLIMIT_FSIZE``) stands for the disk: every library meets an error of the system in its own code.
"""

import errno
import resource
from contextlib import contextmanager

import pytest

import chebnet2d
import chebnet2d.explanations
import chebnet2d.predictions  # before a name that they import is replaced
from cli_runner import run
from writing_commands import FILES, FOLDERS, made, named  # noqa: F401 - made is a fixture


@contextmanager
def room_for(size):
    """Files of at most so many bytes, in this process."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("one", [*FILES, *FOLDERS], ids=named)
def test_it_is_told_before_the_work(one, made, tmp_path, monkeypatch):  # noqa: F811
    """Nothing is read, trained or computed: the first thing that would be is not there."""
    for name in ("chebnet2d.data.any_graph.load_graph", "chebnet2d.training.fit", "chebnet2d.study.run.make_plan"):
        monkeypatch.setattr(name, None)
    monkeypatch.setattr("chebnet2d.theory.report", None)
    arguments = one.arguments(tmp_path / one.name, made)
    if one.flag == "--storage" or (arguments[0] == "search" and one.flag == "--out"):
        monkeypatch.undo()  # the name of the preset depends on the graph; the trials come after it
        monkeypatch.setattr("chebnet2d.search.loop.SearchLoop.run", None)
    with room_for(1000):
        done = run(*arguments, code=2)
    flag = "--out" if one.flag == "--storage" else one.flag  # of a search, its preset is looked at first
    assert f"{flag} must be on a disk with room for it, got " in done.stderr
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("one", [one for one in [*FILES, *FOLDERS] if not one.command.startswith("theory")], ids=named)
def test_it_fills_up_during_the_work(one, made, tmp_path, monkeypatch):  # noqa: F811
    for module in ("_targets", "models.saving", "auto.predictor"):
        monkeypatch.setattr(f"chebnet2d.{module}.check_folder", lambda *_: None)
    with room_for(40 if one.name in ("s.log", "s.txt", "s.toml") else 100):
        done = run(*one.arguments(tmp_path / one.name, made), code=None)
    assert done.code in (2, 74), done
    assert done.stderr.startswith("chebnet2d: ")
    assert any(words in done.stderr for words in ("File too large", "disk is full", "disk I/O error")), done.stderr
    assert done.stderr.count("\n") == 1, "one sentence"
    assert not (tmp_path / one.name).is_file() or one.flag in ("--log", "--store", "--storage"), "no half of a file"


def test_a_full_disk_leaves_the_old_model(tmp_path):
    folder = chebnet2d.save(chebnet2d.ChebNet2D(4, 2), tmp_path / "m")
    with room_for(70_000), pytest.raises(OSError, match="File too large: .*safetensors") as error:
        chebnet2d.save(chebnet2d.ChebNet2D(400, 2, hidden_channels=400), folder)
    assert error.value.errno == errno.EFBIG
    assert chebnet2d.load(folder).config["in_channels"] == 4
    assert {path.name for path in folder.iterdir()} == {"model.safetensors", "config.json", "README.md"}


def test_graphs_too(tmp_path):
    from chebnet2d.data import write_graph

    data = chebnet2d.data.load("csbm")
    path = write_graph(data, tmp_path / "g.safetensors")
    before = path.read_bytes()
    with room_for(70_000), pytest.raises(OSError, match="File too large: .*g.safetensors"):
        write_graph(data, path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1

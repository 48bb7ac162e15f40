"""What tests of several packages use: seeds, folders of their own, the command line, a preset and the dense graph."""

import contextlib
import os

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side, and a fork of a process with OpenMP's threads hangs

import pytest
import torch
from hypothesis import settings

from chebnet2d.cli import main
from dense_graph import Dense
from small_study import PRESET

settings.register_profile("repo", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("repo")


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CHEBNET2D_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def own_folders(own_cache, tmp_path, monkeypatch):
    monkeypatch.setenv("CHEBNET2D_DATA", str(tmp_path / "root"))


@pytest.fixture
def command(monkeypatch, capsys):
    """Call the command line; what it printed."""

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["chebnet2d", *arguments])
        with contextlib.suppress(SystemExit):
            main()
        return capsys.readouterr()

    return call


@pytest.fixture
def preset(tmp_path):
    path = tmp_path / "preset.toml"
    path.write_text(PRESET)
    return str(path)


@pytest.fixture(scope="module")
def dense() -> Dense:
    return Dense()

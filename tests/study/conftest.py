"""A study with eight runs of two units, made once per module and copied."""

import shutil
from pathlib import Path

import pytest

from chebnet2d.study import run_study
from finished_study import protocol_of
from small_study import PRESET


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Its store; the protocol is that of ``protocol_of``."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "preset.toml").write_text(PRESET)
    run_study(protocol_of(folder / "s.sqlite"), folder / "s.sqlite")
    return folder / "s.sqlite"


@pytest.fixture
def store_copy(finished, tmp_path):
    return Path(shutil.copy(finished, tmp_path / "copy.sqlite"))

"""200 damaged inputs of every format: each is read, or refused in a sentence, and takes less than a GiB. More: ``make fuzz``."""

import mmap
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chebnet2d import InputError
from fuzz import Format, fuzz
from mutations import damaged

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
RUN = Path(__file__).with_name("run.py")


@pytest.mark.attack
def test_damaged_inputs_are_read_or_refused(tmp_path):
    """In an interpreter of its own: processes are forked, which needs a parent with one thread."""
    environment = {**os.environ, "TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, str(RUN)], capture_output=True, text=True, env=environment, timeout=900)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]
    counts = re.findall(r"^\S+: (\d+) inputs, \d+ read, \d+ refused, 0 found$", done.stdout, re.MULTILINE)
    assert len(counts) >= 27
    assert set(counts) == {"200"}


def test_the_same_seed_gives_the_same_damage():
    content = bytes(range(256))
    assert [damaged(content, seed) for seed in range(50)] == [damaged(content, seed) for seed in range(50)]
    assert len({damaged(content, seed) for seed in range(50)}) > 40


def hang(_):
    while True:
        pass


def grow(_):
    """By pages of its own: an array may lie in memory that earlier tests have freed and the process has kept."""
    np.frombuffer(mmap.mmap(-1, 2**27), np.uint8)[:] = 1


FAULTS = {
    "a traceback": (lambda _: {}["key"], "KeyError"),
    "a crash": (lambda _: os.abort(), "SIGABRT"),
    "growth": (grow, "took 12. MiB"),
    "a hang": (hang, "took too long"),
    "a sentence of two lines": (lambda _: (_ for _ in ()).throw(InputError("a", "b", "c\nd", 1)), "several lines"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found_with_their_seeds(fault, tmp_path, monkeypatch):
    """The input of seed 3, and no other."""
    monkeypatch.setattr("fuzz.SECONDS", 3)
    monkeypatch.setattr("fuzz.GROWTH", 2**26)
    wrong, what = FAULTS[fault]
    bad = damaged(b"content", 3)
    read = Format("file", b"content", lambda path: wrong(path) if path.read_bytes() == bad else None)
    findings, count = fuzz("format", read, tmp_path, range(6))
    assert [finding.seed for finding in findings] == [3]
    assert re.search(what, findings[0].what)
    assert count == 5


def test_a_format_whose_sound_file_is_refused_is_no_test(tmp_path):
    with pytest.raises(AssertionError, match="the sound file is not read"):
        fuzz("format", Format("file", b"", lambda _: 1 // 0), tmp_path, range(1))

"""SIGKILL before every change of the disk, one after the other: the same call then ends as if there had been none."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.attack, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")]
RUN = Path(__file__).with_name("run.py")
SCENARIOS = re.findall(r"^@scenario\ndef (\w+)", RUN.with_name("scenarios.py").read_text(), re.MULTILINE)
FEWEST = {"precompute_bases": 40, "generate_a_graph": 12, "save": 8, "store_of_a_study": 20, "export_a_study": 4, "auto": 60}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Of all of them, in one interpreter of its own: processes are forked, which needs a parent with one thread."""
    environment = {**os.environ, "TMPDIR": str(tmp_path_factory.mktemp("crashes")), "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, str(RUN)], capture_output=True, text=True, env=environment, timeout=900)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_crash_point_is_survived(name, printed):
    found = re.search(rf"^{name.replace('_', '-')}: (\d+) crash points, all survived$", printed.stdout, re.MULTILINE)
    assert found is not None, printed.stdout[-5000:] + printed.stderr[-3000:]
    assert int(found[1]) >= FEWEST.get(name, 3), "the kills were counted"

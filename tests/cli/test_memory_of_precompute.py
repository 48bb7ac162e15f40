"""``precompute --memory``: the peak of the whole process, reading included, or a sentence before the work."""

import os
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from chebnet2d._sizes import parse_bytes
from chebnet2d.data.any_graph import reading_bytes_of

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of a child process")
pytestmark = [pytest.mark.attack, LINUX]
EDGES, NODES = 300_000, 100_000


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "edges.csv"
    rng = np.random.default_rng(0)
    ends = {name: rng.integers(0, NODES, EDGES) for name in ("source", "target")}
    pyarrow.csv.write_csv(pa.table(ends), path)
    return path


def precompute(edges, out, memory):
    """(exit code, what it said, peak in MiB)."""
    code = (
        "import sys, chebnet2d.cli\n"
        "from chebnet2d._sizes import peak_bytes\n"  # the peak that getrusage tells is inherited from the parent
        "try: chebnet2d.cli.main()\n"
        "finally: print('peak', peak_bytes() >> 20, file=sys.stderr)\n"
    )
    flags = ["precompute", "--edges", edges, "--features", "degree", "--rows", "all", "--degree", "2", "--out", out]
    command = [sys.executable, "-c", code, *map(str, flags), "--memory", memory]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    said, _, peak = done.stderr.rpartition("peak ")
    return done.returncode, said, int(peak)


def test_a_limit_that_reading_breaks_is_told_before(edges, tmp_path):
    code, said, peak = precompute(edges, tmp_path / "a", "1MiB")
    assert code == 2
    assert "--memory must be about" in said
    assert "to read these files, got 1 MiB" in said
    assert peak < 550, "nothing was read"
    assert not (tmp_path / "a").exists()


def test_the_peak_is_within_the_limit(edges, tmp_path):
    """What the libraries hold differs from machine to machine: the limit is what the command itself asks for, and a little."""
    limit = 64
    for attempt in range(3):  # one sentence for reading, one for the work, then it is enough
        code, said, peak = precompute(edges, tmp_path / str(attempt), f"{limit}MiB")
        if code == 0:
            break
        assert code == 2, said
        asked = re.search(r"--memory must be (?:about|at least) ([\d.]+ \w+)", said)
        assert asked, said
        assert not (tmp_path / str(attempt)).exists()
        limit = (parse_bytes(asked.group(1)) >> 20) + 64
    assert code == 0, said
    assert peak <= 1.1 * limit


def test_what_reading_takes_is_estimated(edges, tmp_path):
    """Against the peak that a process has by reading alone."""
    code = (
        "import sys, chebnet2d, pyarrow.csv\n"
        "from chebnet2d import bases\n"
        "from chebnet2d._sizes import peak_bytes, resident_bytes\n"
        "from chebnet2d.data.any_graph import load_graph\n"
        "start = resident_bytes()\n"
        "data = load_graph('', edges=sys.argv[1], features='degree')\n"
        "bases.large_operator(data.edge_index, data.num_nodes)\n"
        "print(peak_bytes() - start)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(edges)], check=True, capture_output=True, text=True)
    assert reading_bytes_of("", {"edges": str(edges)}) == pytest.approx(int(done.stdout), rel=0.5)
    assert reading_bytes_of("cora", {}) == 0

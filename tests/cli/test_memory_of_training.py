"""``train --memory`` and ``predict --memory``: the peak of the whole process keeps within a tenth, at two sizes."""

import os
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from chebnet2d._sizes import parse_bytes

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of a child process")
pytestmark = [pytest.mark.attack, LINUX]
CODE = (
    "import sys, chebnet2d.cli\n"
    "from chebnet2d._sizes import peak_bytes\n"
    "try: chebnet2d.cli.main()\n"
    "finally: print('peak', peak_bytes() >> 20, file=sys.stderr)\n"
)


def command(*words):
    """(exit code, what it said, peak in MiB)."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", CODE, *map(str, words)], capture_output=True, text=True, env=environment)
    said, _, peak = done.stderr.rpartition("peak ")
    return done.returncode, said + done.stdout, int(peak)


def least(*words):
    """MiB that the command asks for, by its own words: what the libraries hold differs from machine to machine."""
    code, said, _ = command(*words, "--memory", "1MiB")
    assert code == 2, said
    return parse_bytes(re.search(r"--memory must be about ([\d.]+ \w+)", said).group(1)) >> 20


@pytest.mark.parametrize("nodes", [20_000, pytest.param(60_000, marks=pytest.mark.slow)])
def test_the_peak_is_within_the_limit(nodes, tmp_path):
    """More rows than the limit leaves room for: bases are 110 and 330 MB."""
    graph, model = tmp_path / "graph", tmp_path / "model"
    graph.mkdir()
    rng = np.random.default_rng(0)
    ends = {name: rng.integers(0, nodes, 3 * nodes) for name in ("source", "target")}
    pyarrow.csv.write_csv(pa.table(ends), graph / "edges.csv")
    y = rng.integers(0, 2, nodes)
    columns = {f"f{f}": (y + rng.standard_normal(nodes)).astype(np.float32).round(3) for f in range(32)}
    pyarrow.csv.write_csv(pa.table({"id": np.arange(nodes), "label": y, **columns}), graph / "nodes.csv")
    train = ("train", graph, "--bases", tmp_path / "bases", "--epochs", "2", "--save", model)
    limit = least(*train) + 250  # what reading takes, and then the graph and its bases
    code, said, peak = command(*train, "--memory", f"{limit}MiB")
    assert code == 0, said
    assert peak <= 1.1 * limit
    code, said, peak = command("predict", model, graph, "--out", tmp_path / "p.parquet", "--memory", f"{limit}MiB")
    assert code == 0, said
    assert peak <= 1.1 * limit


def test_bases_beyond_the_limit_and_many_classes(tmp_path):
    """Bases of 700 MB, more than the limit leaves; answers to all nodes would be 40 MB, and each copy of them as much."""
    graph, nodes, classes = tmp_path / "graph", 80_000, 60
    graph.mkdir()
    rng = np.random.default_rng(0)
    pyarrow.csv.write_csv(pa.table({end: rng.integers(0, nodes, nodes) for end in ("source", "target")}), graph / "edges.csv")
    y = rng.integers(0, classes, nodes)
    columns = {f"f{f}": (rng.random(classes)[y] + rng.standard_normal(nodes)).astype(np.float32).round(2) for f in range(200)}
    pyarrow.csv.write_csv(pa.table({"id": np.arange(nodes), "label": y, **columns}), graph / "nodes.csv")
    train = ("train", graph, "--bases", tmp_path / "bases", "--epochs", "1", "--save", tmp_path / "model")
    limit = least(*train) + 400
    code, said, peak = command(*train, "--memory", f"{limit}MiB")
    assert code == 0, said
    assert sum(file.stat().st_size for file in (tmp_path / "bases").glob("block*")) > 700e6
    assert peak <= 1.1 * limit


@pytest.mark.slow
def test_edges_that_exceed_the_limit_are_sorted_on_disk(tmp_path):
    """Four million edges of few nodes: in memory they alone take more than the limit."""
    graph, nodes = tmp_path / "graph", 20_000
    graph.mkdir()
    rng = np.random.default_rng(0)
    pyarrow.csv.write_csv(pa.table({end: rng.integers(0, nodes, 4_000_000) for end in ("source", "target")}), graph / "edges.csv")
    y = rng.integers(0, 2, nodes)
    pyarrow.csv.write_csv(
        pa.table({"id": np.arange(nodes), "label": y, "f": y + rng.standard_normal(nodes)}), graph / "nodes.csv"
    )
    precompute = ("precompute", graph, "--rows", "all", "--degree", "2")
    limit = least(*precompute, "--out", tmp_path / "none") + 16
    code, said, peak = command(*precompute, "--out", tmp_path / "whole")
    assert code == 0, said
    assert peak > 1.1 * limit
    code, said, peak = command(*precompute, "--out", tmp_path / "chunks", "--memory", f"{limit}MiB")
    assert code == 0, said
    assert peak <= 1.1 * limit
    for file in (tmp_path / "whole").glob("*.npy"):
        assert file.read_bytes() == (tmp_path / "chunks" / file.name).read_bytes()
    model = tmp_path / "model"
    for words in (("train", graph, "--epochs", "2", "--save", model), ("predict", model, graph, "--out", tmp_path / "p.parquet")):
        code, said, peak = command(*words, "--memory", f"{limit + 100}MiB")
        assert code == 0, said
        assert peak <= 1.1 * (limit + 100)

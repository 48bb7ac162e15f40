"""The session of docs/cluster.md, typed as there, at a small size: three nodes and two ranks, one of each killed on the way.

A node that dies in the middle of a task is tested on its own, see ``test_on_ray``: here it dies when the work has begun, and the
task that it has then may be done already.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from chebnet2d.bases import Bases, precompute
from chebnet2d.data import generate, load
from ray_nodes import ray, with_ray

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]
NAME = "ogbn-arxiv"


def until(found, process, seconds=120):
    end = time.monotonic() + seconds
    while not found():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.02)


def children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def started(*words, cwd=None):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment, "cwd": cwd}
    return subprocess.Popen([sys.executable, *map(str, words)], **options)


@pytest.fixture
def graphs(tmp_path):
    generate(NAME, tmp_path / "graphs", scale=0.1)
    return tmp_path / "graphs"


@pytest.fixture
def nodes(tmp_path_factory):
    """The address, and the commands that block in their terminals: ``ray start --head`` and two more."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    address = f"127.0.0.1:{port}"
    flags = ("--num-cpus", 1, "--object-store-memory", 100 * 2**20, "--block")
    # Not below tmp_path: the names of sockets would be too long.
    head = started("-m", "ray.scripts.scripts", "start", "--head", "--port", port, "--include-dashboard", "false", *flags)
    made = [head]
    until(lambda: _answers(port), head)
    ray.shutdown()
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
        for count in (2, 3):  # one after the other: two that start at once may take each other's ports
            node = started("-m", "ray.scripts.scripts", "start", "--address", address, *flags)
            made.append(node)
            until(lambda count=count: sum(node["Alive"] for node in ray.nodes()) == count, node)
        ray.shutdown()
        yield address, made
    finally:
        ray.shutdown()
        for process in made:
            process.terminate()  # it ends the processes of its node
        for process in made:
            process.communicate(timeout=60)


def _answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@with_ray
def test_a_node_dies_while_bases_are_computed(nodes, graphs, tmp_path):
    address, (_, _, third) = nodes
    flags = ("--data-root", graphs, "--out", tmp_path / "bases", "--degree", 20)
    command = started("-m", "chebnet2d", "precompute", NAME, *flags, "--ray", address)
    until((tmp_path / "bases" / "plan.json").exists, command)
    (raylet,) = (pid for pid in children(third.pid) if "raylet/raylet" in Path(f"/proc/{pid}/cmdline").read_text())
    os.kill(raylet, signal.SIGKILL)
    said, errors = command.communicate(timeout=180)
    assert command.returncode == 0, errors
    assert f"MiB in {tmp_path / 'bases'}" in said
    here = precompute(load(NAME, graphs), out=tmp_path / "here", degree=20)
    rows = torch.arange(0, len(here), 50)
    torch.testing.assert_close(Bases.open(tmp_path / "bases").terms(rows), here.terms(rows), atol=1e-6, rtol=1e-5)


def test_a_rank_dies_and_the_same_command_goes_on(graphs, tmp_path):
    precompute(load(NAME, graphs), out=tmp_path / "bases", degree=3)
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", 2, "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0")
    flags = ("--batch-size", 2000, "--hidden", 16, "--epochs", 10**6, "--patience", 10**6, "--save", "model")
    command = (*launcher, "-m", "chebnet2d", "train-bases", "bases", *flags)
    file = tmp_path / "model" / "training.safetensors"

    first = started(*command, cwd=tmp_path)
    until(file.exists, first)
    os.kill(children(first.pid)[1], signal.SIGKILL)
    _, errors = first.communicate(timeout=120)
    assert first.returncode != 0
    assert "(SIGKILL)" in errors  # by torchrun; the sentence of the other rank may come too late, see test_torchrun

    written = file.stat().st_mtime_ns
    again = started(*command, cwd=tmp_path)
    try:
        until(lambda: file.stat().st_mtime_ns > written, again)  # it has come further
    finally:
        again.kill()
    _, errors = again.communicate(timeout=60)
    assert "going on after epoch " in errors
    assert f"from {Path('model') / 'training.safetensors'}" in errors

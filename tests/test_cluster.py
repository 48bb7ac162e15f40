"""Ray's own multi-node cluster on this machine. Without ray, only the sentence that asks for it."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

import chebnet2d
from chebnet2d import InputError
from chebnet2d.bases import precompute
from chebnet2d.cluster import precompute_on_ray, run_tasks

try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError:
    ray = None

with_ray = pytest.mark.skipif(ray is None, reason="ray is not installed (extra: cluster)")
pytestmark = pytest.mark.filterwarnings("default")


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"the package ray must be installed, got none. .*pip install 'chebnet2d\[cluster\]'"):
        list(run_tasks(len, {1: ()}, address="auto"))


@pytest.fixture
def cluster(monkeypatch):
    """A head that computes nothing, and three nodes with a CPU each."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]))
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [made.add_node(num_cpus=1) for _ in range(3)]
    made.wait_for_nodes()
    yield made, nodes
    ray.shutdown()
    made.shutdown()


def slow_square(folder, number):
    """Leaves a mark when it begins and one when it is done."""
    import uuid

    stamp = uuid.uuid4().hex
    (Path(folder) / f"begun-{number}-{stamp}").touch()
    time.sleep(0.6)
    (Path(folder) / f"done-{number}-{stamp}").touch()
    return number * number


@with_ray
def test_a_node_dies_and_nothing_is_lost_or_done_twice(cluster, tmp_path):
    made, nodes = cluster
    results = []
    for key, value in run_tasks(slow_square, {n: (n,) for n in range(12)}, address=made.address, shared=str(tmp_path)):
        results.append((key, value))
        if len(results) == 3:  # the others are at work on this node, or wait
            made.remove_node(nodes[0], allow_graceful=False)
    assert sorted(results) == [(n, n * n) for n in range(12)]
    begun = len(list(tmp_path.glob("begun-*")))
    done = sorted(int(path.name.split("-")[1]) for path in tmp_path.glob("done-*"))
    assert done == list(range(12))  # each once
    assert begun >= 12


@with_ray
def test_an_error_of_a_task_is_raised_here(cluster):
    made, _ = cluster
    with pytest.raises(ZeroDivisionError):
        list(run_tasks(divide, {1: (1,), 0: (0,)}, address=made.address))


def divide(_, number):
    return 1 / number


@with_ray
def test_precompute_on_a_cluster_that_loses_a_node(cluster, tmp_path):
    made, nodes = cluster
    data = chebnet2d.data.load("csbm", nodes=20_000, classes=3, features=24, degree=10, seed=1)
    killed = threading.Event()

    def kill(progress):
        if not killed.is_set():
            killed.set()
            made.remove_node(nodes[1], allow_graceful=False)

    spread = precompute_on_ray(data, out=tmp_path / "ray", address=made.address, degree=6, block=2, progress=kill)
    assert killed.is_set()
    here = precompute(data, out=tmp_path / "here", degree=6, block=2)
    rows = torch.arange(0, 20_000, 7)
    torch.testing.assert_close(spread.terms(rows), here.terms(rows), atol=1e-6, rtol=1e-5)
    assert spread.plan == here.plan
    again = precompute_on_ray(data, out=tmp_path / "ray", address=made.address, degree=6, block=2, progress=pytest.fail)
    assert len(again) == 20_000


@with_ray
def test_blocks_that_are_there_are_not_computed_again(cluster, tmp_path):
    made, _ = cluster
    data = chebnet2d.data.load("csbm", nodes=500, classes=3, features=8, degree=6, seed=1)

    def stop(progress):
        if progress.block == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        precompute(data, out=tmp_path / "b", degree=3, block=2, progress=stop)
    seen = []
    precompute_on_ray(data, out=tmp_path / "b", address=made.address, degree=3, block=2, progress=seen.append)
    assert sorted(progress.block for progress in seen) == [1, 2, 3]
    assert seen[-1].done == seen[-1].total


@with_ray
def test_a_study_on_a_cluster_that_loses_a_node(cluster, tmp_path):
    from chebnet2d.study import Protocol, Store, run_study
    from chebnet2d.study.on_ray import run_study_on_ray

    made, nodes = cluster
    protocol = Protocol(("mlp", "gprgnn"), ("digits",), splits=3, inits=1, epochs=5, width=1)
    killed = threading.Event()

    def kill(progress):
        if not killed.is_set():
            killed.set()
            made.remove_node(nodes[2], allow_graceful=False)

    run_study_on_ray(protocol, tmp_path / "ray.sqlite", made.address, progress=kill)
    run_study(protocol, tmp_path / "here.sqlite")
    tables = []
    for name in ("ray", "here"):
        with Store(tmp_path / f"{name}.sqlite", create=False) as store:
            tables.append([(row["run_id"], round(row["test_accuracy"], 3)) for row in store.rows()])
    assert len(tables[0]) == len({run for run, _ in tables[0]}) == 6
    assert tables[0] == tables[1]
    run_study_on_ray(protocol, tmp_path / "ray.sqlite", made.address, progress=pytest.fail)  # nothing is left to do


@with_ray
def test_no_cluster_at_the_address():
    with pytest.raises(InputError, match="must be the address of a running Ray cluster"):
        list(run_tasks(len, {1: ()}, address="127.0.0.1:1"))
    with pytest.raises(InputError, match="address must be that of a Ray cluster"):
        list(run_tasks(len, {1: ()}, address=""))

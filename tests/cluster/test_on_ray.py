"""Nodes of a cluster that die. Ray's own multi-node cluster on this machine."""

from functools import partial

import pytest
import torch

import chebnet2d
from chebnet2d import InputError
from chebnet2d.bases import precompute
from chebnet2d.bases.computation import BlockComputation
from chebnet2d.cluster import RayExecutor
from ray_nodes import Killer, marked, ray, with_ray
from small_tasks import square

pytestmark = pytest.mark.filterwarnings("default")


@with_ray
class TestTasks:
    def test_a_node_dies_and_nothing_is_lost_or_done_twice(self, cluster, tmp_path):
        kill = Killer(cluster, tmp_path / "marks")
        results = []
        function = partial(marked, str(kill.folder), square)
        for key, value in RayExecutor(cluster.address).run(function, ((n, (n,)) for n in range(8))):
            results.append((key, value))
            kill()
        assert sorted(results) == [(n, n * n) for n in range(8)]
        kill.check(8)


@with_ray
class TestPrecompute:
    def test_a_node_dies(self, cluster, tmp_path, monkeypatch):
        kill = Killer(cluster, tmp_path / "marks")
        monkeypatch.setattr(BlockComputation, "compute", partial(marked, str(kill.folder), BlockComputation.compute))
        data = chebnet2d.data.load("csbm", nodes=2000, classes=3, features=12, degree=10, seed=1)
        options = {"out": tmp_path / "ray", "executor": RayExecutor(cluster.address), "degree": 6, "block": 2}
        spread = precompute(data, progress=kill, **options)
        kill.check(6)
        monkeypatch.undo()
        here = precompute(data, out=tmp_path / "here", degree=6, block=2)
        rows = torch.arange(0, 2000, 7)
        torch.testing.assert_close(spread.terms(rows), here.terms(rows), atol=1e-6, rtol=1e-5)
        assert spread.manifest == here.manifest
        assert len(precompute(data, progress=pytest.fail, **options)) == 2000, "nothing is left to do"


@with_ray
class TestConnecting:
    """There is no connection from before."""

    @pytest.fixture(autouse=True)
    def _not_connected(self, cluster):
        ray.shutdown()

    def test_no_cluster_at_the_address(self):
        with pytest.raises(InputError, match="must be the address of a running Ray cluster"):
            list(RayExecutor("127.0.0.1:1").run(len, [(1, ())]))
        with pytest.raises(InputError, match="address must be that of a Ray cluster"):
            list(RayExecutor("").run(len, [(1, ())]))

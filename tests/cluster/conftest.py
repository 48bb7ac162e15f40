import os
from pathlib import Path

import pytest

from ray_nodes import Cluster, ray, with_nodes


@pytest.fixture(scope="module")
def started():
    """A head that computes nothing; the tests add nodes to it and kill them."""
    with pytest.MonkeyPatch.context() as patch:
        path = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(path))
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        yield made
        ray.shutdown()
        made.shutdown()


@pytest.fixture
def cluster(started):
    """Two nodes with a CPU each."""
    return with_nodes(started, 2)

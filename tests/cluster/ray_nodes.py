"""Nodes of a cluster on this machine and tasks for them; a module of its own, which the nodes can import."""

import os
import signal
import time
import uuid
from pathlib import Path

import pytest

try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError:
    ray = Cluster = None


with_ray = pytest.mark.skipif(ray is None, reason="ray is not installed (extra: cluster)")


def with_nodes(made, count):
    """Connected, so that the processes of the nodes are not started anew for every test."""
    nodes = list(made.worker_nodes)
    for node in nodes[count:]:
        made.remove_node(node)
    for _ in range(count - len(nodes)):
        made.add_node(num_cpus=1, wait=False)
    made.wait_for_nodes()
    if not ray.is_initialized():
        ray.init(address=made.address, log_to_driver=False, logging_level="error")
    return made


def marked(folder, function, *arguments):
    """The function, with a mark that names node and process when it begins and one when it is done; slow enough to be killed."""
    name = f"{ray.get_runtime_context().get_node_id()}-{os.getpid()}-{uuid.uuid4().hex}"
    (Path(folder) / f"begun-{name}").touch()
    result = function(*arguments)
    time.sleep(1.0)
    (Path(folder) / f"done-{name}").touch()
    return result


class Killer:
    """Called after every result: kills a node in the middle of a task, the first time that one is at work."""

    def __init__(self, made, folder):
        self.made, self.folder, self.killed = made, folder, None
        folder.mkdir()

    def marks(self, kind):
        return {path.name.removeprefix(f"{kind}-"): path.stat().st_mtime for path in self.folder.glob(f"{kind}-*")}

    def __call__(self, *_):
        if self.killed is not None:
            return
        for _ in range(60):
            begun, done = self.marks("begun"), self.marks("done")
            busy = sorted(begun.keys() - done.keys(), key=begun.__getitem__)
            if busy and self.dies(busy[-1]):
                self.killed = busy[-1]
                return
            time.sleep(0.05)
        # Both tasks were done at about the same time, and no other is given out during this call: the next result is as good.

    def dies(self, mark):
        """The node and its process, as when a machine loses its power; False if the task was done before."""
        node_id, pid, _ = mark.split("-")
        os.kill(int(pid), signal.SIGSTOP)
        if mark in self.marks("done"):
            os.kill(int(pid), signal.SIGCONT)
            return False
        (node,) = (node for node in self.made.worker_nodes if node.node_id == node_id)
        self.made.remove_node(node, allow_graceful=False)
        os.kill(int(pid), signal.SIGKILL)
        return True

    def check(self, tasks):
        """A task was lost with its node, and begun again elsewhere."""
        assert self.killed is not None
        assert self.killed not in self.marks("done")
        assert len(self.marks("begun")) > tasks
        assert len(self.marks("done")) == tasks

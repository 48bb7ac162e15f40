"""Executors: where independent tasks run. In this process, in several of this machine, or on a Ray cluster (extra ``cluster``)."""

from chebnet2d.cluster.executor import Executor, checked_executor
from chebnet2d.cluster.local import LocalExecutor
from chebnet2d.cluster.precompute import precompute_on_ray
from chebnet2d.cluster.processes import ProcessExecutor
from chebnet2d.cluster.ray import RayExecutor, connected
from chebnet2d.cluster.tasks import run_tasks

__all__ = [
    "Executor",
    "LocalExecutor",
    "ProcessExecutor",
    "RayExecutor",
    "checked_executor",
    "connected",
    "precompute_on_ray",
    "run_tasks",
]

"""Executors run independent tasks: in this process, in several of this machine, or on a Ray cluster (extra ``cluster``)."""

from chebnet2d.cluster.executor import Executor, checked_executor
from chebnet2d.cluster.local import LocalExecutor
from chebnet2d.cluster.processes import ProcessExecutor
from chebnet2d.cluster.ray import RayExecutor, connected

__all__ = ["Executor", "LocalExecutor", "ProcessExecutor", "RayExecutor", "checked_executor", "connected"]

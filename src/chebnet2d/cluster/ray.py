"""Tasks on a Ray cluster. When a node dies, its unfinished tasks start again elsewhere."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chebnet2d._checks import InputError, integer
from chebnet2d.cluster.executor import Call, ExecutorBase, Task, seconds_left

_RETRIES = 8


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The module ``ray``, connected to the cluster at ``address`` ("auto": the one that this machine belongs to)."""
    try:
        import ray
    except ImportError:
        hint = "Install it with: pip install 'chebnet2d[cluster]'"
        raise InputError("cluster", "the package ray", "installed", got="none", hint=hint) from None
    if not isinstance(address, str) or not address:
        raise InputError("cluster", "address", "that of a Ray cluster, or 'auto'", address)
    if ray.is_initialized():
        yield ray
        return
    try:
        host, _, port = address.removeprefix("ray://").rpartition(":")
        if host and port.isdigit():  # ray itself tries for minutes before it gives up
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (OSError, OverflowError, ValueError, RuntimeError) as error:
        rule = "the address of a running Ray cluster"
        raise InputError("cluster", f"{address!r}", rule, reason=_one_line(error)) from None
    try:
        yield ray
    finally:
        ray.shutdown()


class RayExecutor(ExecutorBase):
    """Runs tasks on the cluster at ``address`` ("auto": the one that this machine belongs to), each on ``cpus`` CPUs of a node.

    A task whose node dies is started again on another. The result of a finished task is sent to the driver at once, so that it
    is not lost with its node; large results belong on a disk that the nodes share. Each use connects and disconnects, unless it
    is inside ``with connected(address):``.
    """

    def __init__(self, address: str, cpus: int = 1) -> None:
        self.address, self.cpus = address, integer("RayExecutor", "cpus", cpus, 1)

    @property
    def slots(self) -> int:
        """How many tasks the living nodes work on at a time; at least one."""
        with connected(self.address) as ray:
            return max(1, sum(int(node["Resources"].get("CPU", 0)) // self.cpus for node in ray.nodes() if node["Alive"]))

    def _run(self, call: Call, tasks: Iterator[Task], end: float, options: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        with connected(self.address) as ray:
            remote = ray.remote(num_cpus=self.cpus, max_retries=_RETRIES, retry_exceptions=False)(_call)
            common = ray.put(call)
            waiting: dict[Any, Any] = {}  # reference -> key
            try:
                while True:
                    while len(waiting) < self.slots and (task := next(tasks, None)) is not None:
                        waiting[remote.remote(common, task[1], self.cpus)] = task[0]
                    done, _ = ray.wait(list(waiting), num_returns=1, timeout=seconds_left(end)) if waiting else ([], [])
                    if not done:
                        return
                    key = waiting.pop(done[0])
                    yield key, self._result(ray, key, done[0])
            finally:
                for reference in waiting:
                    ray.cancel(reference, force=True)

    @staticmethod
    def _result(ray: Any, key: Any, reference: Any) -> Any:
        try:
            return ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, InputError):  # which says all there is to say
                raise error.cause from None
            raise error.as_instanceof_cause() from None  # with the traceback of the task
        except ray.exceptions.RayError as error:
            got = f"{type(error).__name__}: {_one_line(error)}"
            raise InputError("cluster", f"task {key!r}", "on some node", got=got, verb="end") from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:150]


def _call(common: Call, arguments: tuple[Any, ...], cpus: int) -> Any:
    import torch

    torch.set_num_threads(cpus)
    function, shared = common
    return function(shared, *arguments)

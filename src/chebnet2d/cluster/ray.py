"""Tasks on a Ray cluster. When a node dies, its unfinished tasks start again elsewhere."""

import math
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from chebnet2d._checks import InputError, integer
from chebnet2d.cluster.executor import Key

_RETRIES = 8


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise InputError(
            "cluster", "the package ray", "installed", got="none", hint="Install it with: pip install 'chebnet2d[cluster]'"
        ) from None
    return ray


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The module ``ray``, connected to the cluster at ``address`` ("auto": the one that this machine belongs to)."""
    ray = _ray()
    if not isinstance(address, str) or not address:
        raise InputError("cluster", "address", "that of a Ray cluster, or 'auto'", address)
    if ray.is_initialized():
        yield ray
        return
    _check_address(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:150]
        raise InputError("cluster", f"{address!r}", "the address of a running Ray cluster", reason=reason) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """Whether something listens at the address. Ray itself tries for minutes before it gives up."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():  # "auto" and the like
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError("cluster", f"{address!r}", "the address of a running Ray cluster", reason=str(error)) from None


class RayExecutor:
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
            return self._slots(ray)

    def _slots(self, ray: Any) -> int:
        return max(1, sum(int(node["Resources"].get("CPU", 0)) // self.cpus for node in ray.nodes() if node["Alive"]))

    def run(
        self,
        function: Callable[..., Any],
        tasks: Iterable[tuple[Key, tuple[Any, ...]]],
        *,
        shared: Any = None,
        seconds: float | None = None,
        report: Callable[..., None] | None = None,
    ) -> Iterator[tuple[Key, Any]]:
        """See ``Executor.run``."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        coming = iter(tasks)
        with connected(self.address) as ray:
            remote = ray.remote(num_cpus=self.cpus, max_retries=_RETRIES, retry_exceptions=False)(_call)
            common = ray.put((function, shared))
            waiting: dict[Any, Key] = {}
            try:
                while True:
                    while len(waiting) < self._slots(ray) and (task := next(coming, None)) is not None:
                        waiting[remote.remote(common, task[1], self.cpus)] = task[0]
                    if not waiting:
                        return
                    left = None if math.isinf(end) else max(end - time.monotonic(), 0.0)
                    done, _ = ray.wait(list(waiting), num_returns=1, timeout=left)
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
            reason = " ".join(str(error).split())[:150]
            raise InputError(
                "cluster", f"task {key!r}", "on some node", got=f"{type(error).__name__}: {reason}", verb="end"
            ) from None


def _call(common: tuple[Callable[..., Any], Any], arguments: tuple[Any, ...], cpus: int) -> Any:
    import torch

    torch.set_num_threads(cpus)
    function, shared = common
    return function(shared, *arguments)

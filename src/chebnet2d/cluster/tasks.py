"""Independent tasks on a Ray cluster. What is done when a node dies: its unfinished tasks start again elsewhere."""

import math
import socket
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from chebnet2d._checks import InputError, integer

_RETRIES = 8
Key = TypeVar("Key", bound=Hashable)


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
    _knock(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:150]
        raise InputError("cluster", f"{address!r}", "the address of a running Ray cluster", reason=reason) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Ray itself tries for minutes before it says that nobody is there."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():  # "auto" and the like
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError("cluster", f"{address!r}", "the address of a running Ray cluster", reason=str(error)) from None


def slots(ray: Any, cpus: int) -> int:
    """How many tasks the living nodes work on at a time; at least one."""
    return max(1, sum(int(node["Resources"].get("CPU", 0)) // cpus for node in ray.nodes() if node["Alive"]))


def run_tasks(
    function: Callable[..., Any],
    tasks: Mapping[Key, tuple[Any, ...]] | Iterator[tuple[Key, tuple[Any, ...]]],
    *,
    address: str,
    shared: Any = None,
    cpus: int = 1,
    retries: int = _RETRIES,
    seconds: float | None = None,
) -> Iterator[tuple[Key, Any]]:
    """``function(shared, *arguments)`` for every task; yields (key, result), each key once, in the order they finish.

    A task whose node dies is started again on another, ``retries`` times; an exception of the function itself is raised here. A
    finished task is not run again: its result travels to the driver with the news that it is done (so results should be small,
    and what is large belongs on the shared disk). The caller alone writes: nothing is done twice, whoever dies.

    Args:
        tasks: arguments by key, all of them sent off at once. Or an iterator of (key, arguments): it is asked for a task whenever
            there is a slot for one, and what was yielded before has been dealt with, so a task may depend on earlier results.
        shared: handed to every task; stored in the cluster once.
        cpus: that a task occupies.
        seconds: after these, tasks that are not done are cancelled; their keys are not yielded.
    """
    integer("run_tasks", "cpus", cpus, 1)
    integer("run_tasks", "retries", retries, 0)
    at_once = isinstance(tasks, Mapping)
    if at_once and not tasks:
        return
    coming = iter(tasks.items()) if isinstance(tasks, Mapping) else tasks
    end = math.inf if seconds is None else time.monotonic() + seconds
    with connected(address) as ray:
        remote = ray.remote(num_cpus=cpus, max_retries=retries, retry_exceptions=False)(_call)
        common = ray.put((function, shared))
        waiting: dict[Any, Key] = {}
        try:
            while True:
                while (at_once or len(waiting) < slots(ray, cpus)) and (task := next(coming, None)) is not None:
                    waiting[remote.remote(common, task[1], cpus)] = task[0]
                if not waiting:
                    return
                left = None if math.isinf(end) else max(end - time.monotonic(), 0.0)
                done, _ = ray.wait(list(waiting), num_returns=1, timeout=left)
                if not done:
                    return
                key = waiting.pop(done[0])
                try:
                    result = ray.get(done[0])
                except ray.exceptions.RayTaskError as error:
                    if isinstance(error.cause, InputError):  # says all there is to say
                        raise error.cause from None
                    raise error.as_instanceof_cause() from None  # with the traceback of the task
                except ray.exceptions.RayError as error:
                    reason = " ".join(str(error).split())[:150]
                    raise InputError(
                        "cluster", f"task {key!r}", "on some node", got=f"{type(error).__name__}: {reason}", verb="end"
                    ) from None
                yield key, result
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)


def _call(common: tuple[Callable[..., Any], Any], arguments: tuple[Any, ...], cpus: int) -> Any:
    import torch

    torch.set_num_threads(cpus)
    function, shared = common
    return function(shared, *arguments)

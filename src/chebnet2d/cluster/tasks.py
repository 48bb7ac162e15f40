"""Independent tasks on a Ray cluster. What is done when a node dies: its unfinished tasks start again elsewhere."""

import socket
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
            "cluster: the package ray must be installed, got none. Install it with: pip install 'chebnet2d[cluster]'"
        ) from None
    return ray


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The module ``ray``, connected to the cluster at ``address`` ("auto": the one that this machine belongs to)."""
    ray = _ray()
    if not isinstance(address, str) or not address:
        raise InputError(f"cluster: address must be that of a Ray cluster, or 'auto', got {address!r}.")
    if ray.is_initialized():
        yield ray
        return
    _knock(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:150]
        raise InputError(f"cluster: {address!r} must be the address of a running Ray cluster, got: {reason}") from None
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
        raise InputError(f"cluster: {address!r} must be the address of a running Ray cluster, got: {error}.") from None


def run_tasks(
    function: Callable[..., Any],
    tasks: Mapping[Key, tuple[Any, ...]],
    *,
    address: str,
    shared: Any = None,
    cpus: int = 1,
    retries: int = _RETRIES,
) -> Iterator[tuple[Key, Any]]:
    """``function(shared, *arguments)`` for every task; yields (key, result), each key once, in the order they finish.

    A task whose node dies is started again on another, ``retries`` times; an exception of the function itself is raised here. A
    finished task is not run again: its result travels to the driver with the news that it is done (so results should be small,
    and what is large belongs on the shared disk). The caller alone writes: nothing is done twice, whoever dies.

    Args:
        shared: handed to every task; stored in the cluster once.
        cpus: that a task occupies.
    """
    integer("run_tasks", "cpus", cpus, 1)
    integer("run_tasks", "retries", retries, 0)
    if not tasks:
        return
    with connected(address) as ray:
        remote = ray.remote(num_cpus=cpus, max_retries=retries, retry_exceptions=False)(_call)
        common = ray.put((function, shared))
        waiting = {remote.remote(common, arguments, cpus): key for key, arguments in tasks.items()}
        try:
            while waiting:
                (done,), _ = ray.wait(list(waiting), num_returns=1)
                key = waiting.pop(done)
                try:
                    result = ray.get(done)
                except ray.exceptions.RayTaskError as error:
                    raise error.as_instanceof_cause() from None
                except ray.exceptions.RayError as error:
                    reason = " ".join(str(error).split())[:150]
                    raise InputError(
                        f"cluster: task {key!r} must end on some node, got {type(error).__name__}: {reason}"
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

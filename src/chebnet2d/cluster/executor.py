"""The interface of an executor. Any object with ``slots`` and ``run`` is one."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from inspect import getattr_static
from typing import Any, Protocol, TypeVar

from chebnet2d._checks import InputError

Key = TypeVar("Key", bound=Hashable)


class Executor(Protocol):
    """Runs independent tasks and gives their results back. The caller alone writes, so nothing is written twice."""

    @property
    def slots(self) -> int:
        """How many tasks run at a time; at least one."""

    def run(
        self,
        function: Callable[..., Any],
        tasks: Iterable[tuple[Key, tuple[Any, ...]]],
        *,
        shared: Any = None,
        seconds: float | None = None,
        report: Callable[..., None] | None = None,
    ) -> Iterator[tuple[Key, Any]]:
        """Yield (key, ``function(shared, *arguments)``) for every task, each key once, in the order in which the tasks finish.

        An exception of the function is raised here, and ends the other tasks. So does closing the iterator.

        Args:
            function: picklable, as are ``shared``, the arguments and the results, where tasks run in other processes.
            tasks: (key, arguments). The next one is asked for whenever a slot is free, and after the caller has dealt with what
                was yielded before: a task may depend on earlier results.
            shared: given to every task; sent once to each process.
            seconds: after these no task is started, and those that run elsewhere are cancelled; their keys are not yielded.
            report: passed to the function as the keyword ``report`` if it runs in this process; ignored otherwise.
        """


def checked_executor(owner: str, executor: Any) -> Executor:
    """The executor, if it has the interface. ``slots`` is not read: that may connect to a cluster."""
    if any(getattr_static(executor, name, None) is None for name in ("slots", "run")):
        raise InputError(owner, "executor", "an object with slots and run, like those of chebnet2d.cluster", executor)
    made: Executor = executor
    return made

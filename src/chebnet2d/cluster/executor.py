"""The interface of an executor, what ours share, and the one that runs tasks in this process."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from inspect import getattr_static
from typing import Any, Protocol, TypeVar

from chebnet2d._checks import InputError

Key = TypeVar("Key", bound=Hashable)
Call = tuple[Callable[..., Any], Any]  # function, shared
Task = tuple[Any, tuple[Any, ...]]  # key, arguments


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
    return executor


class ExecutorBase(ABC):
    """``Executor.run`` for the executors of this package, each of which writes ``_run``."""

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
        yield from self._run((function, shared), iter(tasks), end, {} if report is None else {"report": report})

    @abstractmethod
    def _run(self, call: Call, tasks: Iterator[Task], end: float, options: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """``end``: by the monotonic clock. ``options``: keywords for a function that runs in this process."""


class LocalExecutor(ExecutorBase):
    """Runs tasks here. A task that has begun when ``seconds`` are over runs to its end, and its result is yielded."""

    slots = 1

    def _run(self, call: Call, tasks: Iterator[Task], end: float, options: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        function, shared = call
        while time.monotonic() < end and (task := next(tasks, None)) is not None:
            key, arguments = task
            yield key, function(shared, *arguments, **options)


def seconds_left(end: float) -> float | None:
    return None if math.isinf(end) else max(end - time.monotonic(), 0.0)

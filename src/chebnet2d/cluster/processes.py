"""Tasks in several processes of this machine.

    driver                          worker
      |  <- (empty): it has started   |
      |  -> (function, shared)        |
      |  -> arguments of a task       |
      |  <- result or exception       |   ... until the driver closes the pipe, or ends in whatever way

Every worker has a pipe of its own, so that one that is killed leaves no lock behind.
"""

import math
import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any, NamedTuple

from chebnet2d._checks import InputError, integer
from chebnet2d.cluster.executor import Key
from chebnet2d.cluster.worker import work

_ATTEMPTS = 3


class ProcessExecutor:
    """Runs tasks in ``workers`` processes with ``threads`` threads of torch each; default: the cores divided among the workers.

    A task whose worker dies is given to another one, twice at most; then an error says how the last one ended. Workers end with
    the driver, whatever ends it.
    """

    def __init__(self, workers: int, threads: int | None = None) -> None:
        self.slots = integer("ProcessExecutor", "workers", workers, 1)
        cores = max(1, (os.cpu_count() or 1) // workers)
        self.threads = cores if threads is None else integer("ProcessExecutor", "threads", threads, 1)

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
        common = _pickled((function, shared), "the function and what it shares")
        coming = iter(tasks)
        workers: list[_Worker] = []
        again: list[_Task] = []  # of workers that died
        try:
            while True:
                while sum(worker.task is not None for worker in workers) < self.slots:
                    task = again.pop() if again else _next(coming)
                    if task is None:
                        break
                    worker = next((worker for worker in workers if worker.task is None), None)
                    if worker is None:
                        workers.append(worker := _Worker(self.threads))
                    worker.take(task)
                busy = {worker.pipe: worker for worker in workers if worker.task is not None}
                if not busy:
                    return
                ready: Any = wait(list(busy), timeout=None if math.isinf(end) else max(end - time.monotonic(), 0.0))
                if not ready:
                    return
                worker = busy[ready[0]]
                try:
                    message = worker.message(common)
                except (EOFError, OSError):  # it has ended, perhaps in the middle of a message
                    workers.remove(worker)
                    again.append(worker.lost_task())
                    continue
                if message:
                    yield worker.answer(message)
        finally:
            for worker in workers:
                worker.end()


class _Task(NamedTuple):
    key: Any
    arguments: bytes
    attempts: int = 1


def _next(coming: Iterator[tuple[Any, tuple[Any, ...]]]) -> _Task | None:
    task = next(coming, None)
    return None if task is None else _Task(task[0], _pickled(task[1], f"the arguments of task {task[0]!r}"))


class _Worker:
    """A process and its pipe. ``task`` is what it works on, if anything."""

    def __init__(self, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, threads), daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the worker is the end of the pipe
        self.task: _Task | None = None
        self.started = False

    def take(self, task: _Task) -> None:
        self.task = task
        if self.started:
            with suppress(OSError):  # it has died: the driver hears of it when it waits for the answer
                self.pipe.send_bytes(task.arguments)

    def message(self, common: bytes) -> bytes:
        """An answer. Or nothing, from a worker that has started: it is given its task only now, so that many start at once."""
        message = self.pipe.recv_bytes()
        if not self.started:
            assert self.task is not None
            self.started = True
            self.pipe.send_bytes(common)
            self.pipe.send_bytes(self.task.arguments)
        return message

    def answer(self, message: bytes) -> tuple[Any, Any]:
        """(key, result), or the exception of the task."""
        assert self.task is not None
        key, self.task = self.task.key, None
        result, error, text = pickle.loads(message)  # noqa: S301 - from our own child
        if error is None:
            return key, result
        if not isinstance(error, InputError):  # which says all there is to say
            error.add_note(f"In a worker process:\n{text}")
        raise error

    def lost_task(self) -> _Task:
        """The task of a worker that has died, for another one."""
        self.process.join()
        code = self.process.exitcode or 0
        self.end()
        assert self.task is not None
        if self.task.attempts >= _ATTEMPTS:
            how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
            hint = "Where memory is short, fewer workers help." if self.started else _GUARD
            raise InputError(
                "ProcessExecutor",
                f"task {self.task.key!r}",
                "in a worker process",
                got=f"{_ATTEMPTS} workers that died, the last one {how}",
                hint=hint,
                verb="end",
            )
        return self.task._replace(attempts=self.task.attempts + 1)

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


_GUARD = 'They died when they started. A script that starts processes must do its work under: if __name__ == "__main__":'


def _pickled(value: Any, name: str) -> bytes:
    """By value: multiprocessing's own way would share the memory of tensors, which is gone with the worker that made them."""
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError("ProcessExecutor", name, "picklable", reason=str(error)) from None

"""Tasks in several processes of this machine.

    driver                          worker
      |  <- (empty): it has started   |
      |  -> (function, shared)        |
      |  -> arguments of a task       |
      |  <- result or exception       |   ... until the driver closes the pipe, or ends in whatever way

Every worker has a pipe of its own, so that one that is killed leaves no lock behind.
"""

import multiprocessing
import os
import pickle
import signal
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from multiprocessing.connection import wait
from typing import Any, NamedTuple

from chebnet2d._checks import InputError, integer
from chebnet2d.cluster.executor import Call, ExecutorBase, Task, seconds_left
from chebnet2d.cluster.worker import work

_ATTEMPTS = 3
_GUARD = 'They died when they started. A script that starts processes must do its work under: if __name__ == "__main__":'


class ProcessExecutor(ExecutorBase):
    """Runs tasks in ``workers`` processes with ``threads`` threads of torch each; default: the cores divided among the processes
    that there are tasks for.

    A task whose worker dies is given to another one, twice at most; then an error says how the last one ended. Workers end with
    the driver, whatever ends it.
    """

    def __init__(self, workers: int, threads: int | None = None) -> None:
        self.slots = integer("ProcessExecutor", "workers", workers, 1)
        self.threads = None if threads is None else integer("ProcessExecutor", "threads", threads, 1)

    def _run(self, call: Call, tasks: Iterator[Task], end: float, options: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        common = _pickled(call, "the function and what it shares")
        coming: Iterator[_Task] = (_Task(key, _pickled(arguments, f"the arguments of task {key!r}")) for key, arguments in tasks)
        at_once = list(islice(coming, self.slots))
        coming = chain(at_once, coming)
        threads = self.threads or max(1, (os.cpu_count() or 1) // max(1, len(at_once)))
        idle: list[_Worker] = []
        busy: dict[Any, tuple[_Worker, _Task]] = {}
        again: list[_Task] = []  # of workers that died
        try:
            while True:
                while len(busy) < self.slots and (task := again.pop() if again else next(coming, None)) is not None:
                    worker = idle.pop() if idle else _Worker(threads)
                    busy[worker.pipe] = worker, task
                    worker.take(task)
                ready: Any = wait(list(busy), seconds_left(end)) if busy else []
                if not ready:
                    return
                worker, task = busy[ready[0]]
                try:
                    message = worker.message(common, task)
                except (EOFError, OSError):  # it has ended, perhaps in the middle of a message
                    again.append(worker.lost(task))
                    del busy[worker.pipe]
                    continue
                if message:
                    idle.append(worker)
                    del busy[worker.pipe]
                    yield task.key, _result(message)
        finally:
            for worker in [*idle, *(worker for worker, _ in busy.values())]:
                worker.end()


class _Task(NamedTuple):
    key: Any
    arguments: bytes
    attempts: int = 1


class _Worker:
    """A process and its pipe."""

    def __init__(self, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, threads), daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the worker is the end of the pipe
        self.started = False

    def take(self, task: _Task) -> None:
        if self.started:
            with suppress(OSError):  # it has died: the driver hears of it when it waits for the answer
                self.pipe.send_bytes(task.arguments)

    def message(self, common: bytes, task: _Task) -> bytes:
        """An answer. Or nothing, from a worker that has started: it is given its task only now, so that many start at once."""
        message = self.pipe.recv_bytes()
        if not self.started:
            self.started = True
            self.pipe.send_bytes(common)
            self.pipe.send_bytes(task.arguments)
        return message

    def lost(self, task: _Task) -> _Task:
        """The task of this worker, which has died, for another one."""
        self.process.join()
        self.pipe.close()
        if task.attempts < _ATTEMPTS:
            return task._replace(attempts=task.attempts + 1)
        code = self.process.exitcode or 0
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        got = f"{_ATTEMPTS} workers that died, the last one {how}"
        hint = "Where memory is short, fewer workers help." if self.started else _GUARD
        raise InputError("ProcessExecutor", f"task {task.key!r}", "in a worker process", got=got, hint=hint, verb="end")

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _result(message: bytes) -> Any:
    """The result of a task, or its exception."""
    result, error, text = pickle.loads(message)  # noqa: S301 - from our own child
    if error is None:
        return result
    if not isinstance(error, InputError):  # which says all there is to say
        error.add_note(f"In a worker process:\n{text}")
    raise error


def _pickled(value: Any, name: str) -> bytes:
    """By value: multiprocessing's own way would share the memory of tensors, which is gone with the worker that made them."""
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError("ProcessExecutor", name, "picklable", reason=str(error)) from None

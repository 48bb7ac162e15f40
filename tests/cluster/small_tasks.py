"""Tasks for executors: a module of its own, which other processes can import."""

import os
import signal
import time
from pathlib import Path

from chebnet2d._checks import integer


def square(_, number):
    return number * number


def pause(_, seconds):
    time.sleep(seconds)
    return "done"


def divide(_, number):
    return 1 / integer("divide", "number", number, -1)


def first_waits_for_second(folder, number):
    """Task 0 ends after task 1, if both run at a time."""
    if number == 1:
        (folder / "second").touch()
    end = time.monotonic() + 60
    while not (folder / "second").exists() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.0 if number else 1.0)
    return number


def told(_, number, report=None):
    if report is not None:
        report(number)
    return number


class Counted:
    """Counts how often it is pickled."""

    pickled = 0

    def __reduce__(self):
        Counted.pickled += 1
        return (Counted, ())


def kind_of_shared(shared, _):
    return type(shared).__name__


def dies_at_first(folder, number):
    """Task 2 ends its process the first time it runs; every task leaves a mark for each attempt."""
    attempts = len(list(folder.glob(f"{number}-*")))
    (folder / f"{number}-{attempts}").touch()
    if number == 2 and attempts == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def always_dies(_):
    os.kill(os.getpid(), signal.SIGKILL)


def open_nothing(_, path):
    return Path(path).read_text()


class Unreadable(Exception):
    """Is pickled, but cannot be read back."""

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


def raise_unreadable(_):
    raise Unreadable(1, 2)


def give_lambda(_):
    return lambda: 0


def threads(_):
    import torch

    return torch.get_num_threads()


def sleeping(folder, number):
    """Says who it is, and sleeps for long."""
    (folder / f"pid-{number}").write_text(str(os.getpid()))
    time.sleep(1000)

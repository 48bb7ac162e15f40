"""Several processes of ``torchrun``, on one machine or many.

torchrun --nproc-per-node 2 -m chebnet2d train-bases DIR --method chebnet2d
"""

import ctypes
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar, cast

import torch
import torch.distributed as dist

from chebnet2d._checks import InputError, real

T = TypeVar("T")
_ANOTHER_IS_GONE = re.compile(r"connection (closed|reset|refused)|broken pipe|remote process exited", re.IGNORECASE)
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
TIMEOUT = 300.0
"""Seconds that a process waits for the others: more than a batch or an evaluation takes, less than a night."""


def under_torchrun() -> bool:
    """Whether this process is one of several that ``torchrun`` has started."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1 and "RANK" in os.environ


def process_rank() -> tuple[int, int]:
    """(number of this process, how many there are)."""
    return (dist.get_rank(), dist.get_world_size()) if dist.is_available() and dist.is_initialized() else (0, 1)


def of_first_process(make: Callable[[], T]) -> T:
    """What ``make`` gives in the first process, in all of them. It is called there alone; all processes call this together."""
    rank, world = process_rank()
    if world == 1:
        return make()
    made = [make() if rank == 0 else None]
    dist.broadcast_object_list(made, 0)
    return cast("T", made[0])


@contextmanager
def process_group(device: str | torch.device = "cpu", timeout: float = TIMEOUT) -> Iterator[None]:
    """Joined to the processes of ``torchrun``, by gloo, or by nccl on GPUs. Nothing to do if they are joined already.

    A process that does not answer for ``timeout`` seconds ends the work of all with an error; all end with their launcher.
    """
    if dist.is_initialized():
        yield
        return
    limit = timedelta(seconds=real("process_group", "timeout", timeout, 1))
    gpu = torch.device(device).type == "cuda"
    if gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    if "TORCHELASTIC_RUN_ID" in os.environ:
        end_with_parent()
    try:
        dist.init_process_group("nccl" if gpu else "gloo", timeout=limit)
        yield
    except RuntimeError as error:  # gloo has no class for it
        if _ANOTHER_IS_GONE.search(str(error)) is not None:
            rule, hint = "all until the end", "Its own lines, or those of torchrun, say why; start them again."
            got = "one whose connection broke"
            raise InputError("fit", "the processes of torchrun", rule, got=got, hint=hint, verb="work") from error
        if not any(word in str(error).lower() for word in ("timed out", "timeout")):
            raise
        rule = f"every other one within {timeout:g} s"
        raise InputError("fit", "the processes of torchrun", rule, got="one that did not", verb="answer") from error
    finally:
        if dist.is_initialized():
            _never_freed(dist.group.WORLD)
            dist.destroy_process_group()


def _never_freed(group: object) -> None:
    """The group's memory stays until the process ends.

    Freeing it waits for gloo's thread. If the last reference is that of DistributedDataParallel, it waits with the interpreter's
    lock in hand, and that thread may want the lock, to drop what is left of its last message: the rank never ends.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(group))


def end_with_parent() -> None:
    """From now on this process is killed when its launcher is: it would have another parent, and nobody who ends it.

    By the system where it can. A thread that looks every half a second does not run while another one keeps the interpreter,
    or while Python shuts down and waits for what is left of a broken connection.
    """
    launcher = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    threading.Thread(target=_watch, args=(launcher,), daemon=True).start()  # and if it has ended before the call


def _watch(launcher: int) -> None:
    while os.getppid() == launcher:
        time.sleep(0.5)
    os._exit(1)

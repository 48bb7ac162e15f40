"""Stacks side by side on threads, each stack on one core.

The products of a stack are too small for two cores to share well: one stack on each core does nearly twice the work of one stack
on two. torch and MKL release Python's lock and keep their number of threads for each thread, so plain threads serve. As every
stack is computed on one core, its numbers do not depend on how many of them there are.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import torch

Job = Callable[[threading.Event], None]
"""Work that looks at the event from time to time and ends early when it is set."""


def run_on_threads(jobs: Sequence[Job], *, share: bool = False) -> None:
    """All jobs, as many at a time as torch has threads, each on one core. The first error, or Ctrl-C, ends all and is raised.

    ``share``: a single job is large enough for all cores. A small one is not: its threads would wait for each other, and where
    other programs run, wait long (measured on a busy machine: 10 ms an epoch on one core, 200 ms on two).
    """
    stop = threading.Event()
    cores = torch.get_num_threads()
    try:
        if len(jobs) == 1:
            torch.set_num_threads(cores if share else 1)
            jobs[0](stop)
        else:
            _run_in_pool(jobs, cores, stop)
    finally:
        torch.set_num_threads(cores)  # threads that come later look at the number that was set last


def _run_in_pool(jobs: Sequence[Job], cores: int, stop: threading.Event) -> None:
    def alone(job: Job) -> None:
        torch.set_num_threads(1)  # for this thread
        if not stop.is_set():
            job(stop)

    pool = ThreadPoolExecutor(min(cores, len(jobs)), thread_name_prefix="stack")
    try:
        futures = [pool.submit(alone, job) for job in jobs]
        done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)

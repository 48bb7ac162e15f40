"""Memory that an epoch frees stays with the process, for the next epoch."""

import ctypes
import functools
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # names of malloc.h
_LARGEST = 2**25  # what glibc accepts at most


@functools.cache
def keep_freed_memory() -> None:
    """Tell glibc, once per process, not to return freed arrays of up to 32 MiB to the system; elsewhere nothing happens.

    By default it returns arrays of an epoch when they are freed, and the next epoch gets new pages, each at the cost of a fault:
    on virtual machines up to a tenth of the time of a stack. Threads share one heap: heaps of their own are returned as soon as
    they are empty, whatever the threshold.
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(_MMAP_THRESHOLD, _LARGEST)
        libc.mallopt(_TRIM_THRESHOLD, 2**31 - 1)
        libc.mallopt(_ARENA_MAX, 1)

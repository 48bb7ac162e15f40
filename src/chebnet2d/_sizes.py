"""Sizes of memory: reading and writing them as text, and what this process and the system have."""

import re
import sys
from pathlib import Path

from chebnet2d._checks import InputError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def parse_bytes(value: int | str, owner: str = "parse_bytes") -> int:
    """A number of bytes: an integer, or a text like "8GiB", "512 MB" or "1.5g".

    >>> parse_bytes("8GiB") == 8 * 2**30
    True
    """
    count = value if isinstance(value, int) and not isinstance(value, bool) else 0
    if isinstance(value, str) and (found := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?|)b?\s*", value.lower())):
        count = int(float(found.group(1)) * _UNITS[found.group(2)])
    if count <= 0:
        raise InputError(owner, "memory", "a size like 8GiB or 512MB, or a number of bytes", value)
    return count


def show_bytes(count: float) -> str:
    """In binary units, with three digits: 1.5 GiB."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1000:
            return f"{count:.0f} B" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"


def peak_bytes() -> int:
    """What this process has held in memory at most, so far."""
    peak = _kernel_says("/proc/self/status", "VmHWM:")
    return _largest_so_far() if peak is None else peak


def resident_bytes() -> int:
    """What this process holds in memory now."""
    held = _kernel_says("/proc/self/status", "VmRSS:")
    return _by_psutil("rss") if held is None else held


def _largest_so_far() -> int:
    try:
        import resource
    except ImportError:  # Windows, where the process is asked
        return _by_psutil("peak_wset")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def free_bytes() -> int:
    """What the system could give to this process without swapping."""
    free = _kernel_says("/proc/meminfo", "MemAvailable:")
    if free is not None:
        return free
    import psutil

    return int(psutil.virtual_memory().available)


def _by_psutil(name: str) -> int:
    """A size of this process, as the system calls it; what it holds now, where the system has no such size."""
    import psutil

    held = psutil.Process().memory_info()
    return int(getattr(held, name, held.rss))


def _kernel_says(path: str, name: str) -> int | None:
    """Bytes, from a line like "VmRSS:   1024 kB"; None where there is no such file."""
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), None)

"""Sizes of memory: reading and writing them as text, and what this process and the system have."""

import re
import sys
from pathlib import Path

from chebnet2d._checks import InputError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_DEFAULT = 4 * 2**30  # taken as free where the system does not tell


def parse_bytes(value: int | str, owner: str = "parse_bytes", name: str = "memory") -> int:
    """A number of bytes: an integer, or a text like "8GiB", "512 MB" or "1.5g".

    >>> parse_bytes("8GiB") == 8 * 2**30
    True
    """
    rule = "a size like 8GiB or 512MB, or a number of bytes"
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InputError(owner, name, rule, value)
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?|)b?\s*", value.lower())
        if found is None:
            raise InputError(owner, name, rule, value)
        value = int(float(found.group(1)) * _UNITS[found.group(2)])
    if value <= 0:
        raise InputError(owner, name, rule, value)
    return value


def show_bytes(count: float) -> str:
    """In binary units, with three digits: 1.5 GiB."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1000:
            return f"{count:.0f} B" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"


def resident_bytes() -> int:
    """What this process holds in memory now."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def free_bytes() -> int:
    """What the system could give to this process without swapping."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _DEFAULT

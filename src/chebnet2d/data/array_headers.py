"""What the headers of numpy files say about their sizes, read before the arrays are made.

A plain file holds what it declares, or is truncated. A member of an archive may be compressed a thousandfold.
"""

import math
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from chebnet2d.data.reading_limit import check_size

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_COPIES = 3  # what becomes of an array: itself, its form in memory, and a temporary of that


@contextmanager
def quiet() -> Iterator[None]:
    """Numpy warns of a header that Python 2 wrote, and of old names of types: both are read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def declared_bytes(stream: Any) -> tuple[int, int]:
    """(bytes of the array as it is stored, bytes of the same number of 32-bit or wider numbers) by the header of an .npy file.

    Raises a ``ValueError`` where the header is none.
    """
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the format")
    with quiet():
        shape, _, dtype = _HEADERS[version](stream)
    if any(type(size) is not int or size < 0 for size in shape):
        raise ValueError(f"a shape {shape}")
    count = math.prod(shape)
    return count * dtype.itemsize, count * max(4, dtype.itemsize)


def check_array(path: Path) -> None:
    """An .npy file: its numbers are in it."""
    with path.open("rb") as stream:
        stored, wide = declared_bytes(stream)
        found = path.stat().st_size - stream.tell()
    if stored > found:
        raise ValueError(f"{stored} bytes by its header, of which {found} are there")
    check_size(str(path), "the array", _COPIES * wide)


def check_archive(label: str, archive: Any, names: Iterable[str]) -> None:
    """An open .npz file: the named members together, by their own headers."""
    total = 0
    members = {info.filename: info for info in archive.zip.infolist()}
    for name in names:
        member = members.get(f"{name}.npy")
        if member is not None:
            with archive.zip.open(member) as stream:
                total += declared_bytes(stream)[1]
    check_size(label, "the arrays", _COPIES * total)

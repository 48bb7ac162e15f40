"""Files of numpy, opened without pickle."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.data.array_headers import check_archive, check_array, quiet
from chebnet2d.data.broken_files import BROKEN
from chebnet2d.data.own_graph.table import first_line


def load_npy(path: Path) -> Any:
    _check_start(path, b"\x93NUMPY", "an array of numpy (.npy)")
    try:
        check_array(path)
        with quiet():
            return np.load(path, allow_pickle=False)
    except InputError:
        raise
    except BROKEN as error:
        raise _unreadable(str(path), error) from None


def load_npz(path: Path, names: Sequence[str]) -> tuple[dict[str, Any], str]:
    """(those of the named arrays that the archive has, the names of all its arrays for a message)."""
    _check_start(path, b"PK", "an archive of numpy (.npz)")
    place, arrays = str(path), {}
    try:  # the file is opened here, because numpy leaves that of a broken archive open
        with quiet(), path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            listed = ", ".join(archive.files) or "nothing"
            check_archive(place, archive, names)
            for name in (name for name in names if name in archive.files):
                place = f"{path}: {name}"
                arrays[name] = archive[name]
    except InputError:
        raise
    except BROKEN as error:
        raise _unreadable(place, error) from None
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise InputError(str(path), name, "an array", got="a file that is none")
        _check_text(str(path), name, array)
    return arrays, listed


def _check_text(label: str, name: str, array: Any) -> None:
    """Numpy takes any 32 bits for a character, and Python does not."""
    if array.dtype.kind == "U" and array.size and array.dtype.itemsize:
        code = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).view(np.uint32)
        if ((code > 0x10FFFF) | ((code >= 0xD800) & (code < 0xE000))).any():
            raise InputError(label, name, "text", got="numbers that are no characters")


def _check_start(path: Path, expected: bytes, name: str) -> None:
    with path.open("rb") as file:
        start = file.read(len(expected))
    if start != expected:
        raise InputError(str(path), "the file", name, got=f"one that begins with {start!r}")


def _unreadable(label: str, error: Exception) -> InputError:
    if "pickle" in str(error).lower():
        return InputError("", label, "plain numbers or text", got="pickled objects, which are never loaded")
    return InputError("", label, "a file that can be read", reason=first_line(error))

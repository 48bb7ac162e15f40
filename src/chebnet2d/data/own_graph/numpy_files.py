"""Files of numpy, opened without pickle."""

from pathlib import Path
from typing import Any

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.data.broken_files import BROKEN
from chebnet2d.data.own_graph.table import first_line

_ARRAY, _ARCHIVE = b"\x93NUMPY", b"PK"


def _check_kind(path: Path, kind: bytes, name: str) -> None:
    with path.open("rb") as file:
        start = file.read(len(kind))
    if start != kind:
        raise InputError(str(path), "the file", name, got=f"one that begins with {start!r}")


def load_npy(path: Path) -> Any:
    _check_kind(path, _ARRAY, "an array of numpy (.npy)")
    try:
        array = np.load(path, allow_pickle=False)
    except BROKEN as error:
        raise _unreadable(str(path), error) from None
    return array


class NpzFile:
    """The arrays of an .npz file, read one at a time."""

    def __init__(self, path: Path) -> None:
        self.label = str(path)
        _check_kind(path, _ARCHIVE, "an archive of numpy (.npz)")
        self._file = path.open("rb")
        try:
            self._archive = np.load(self._file, allow_pickle=False)
        except BROKEN as error:
            self._file.close()
            raise _unreadable(self.label, error) from None
        self.names: list[str] = list(self._archive.files)

    def __enter__(self) -> "NpzFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()
        self._file.close()

    def has(self, *names: str) -> bool:
        return all(name in self.names for name in names)

    def array(self, name: str) -> Any:
        try:
            array = self._archive[name]
        except BROKEN as error:
            raise _unreadable(f"{self.label}: {name}", error) from None
        if not isinstance(array, np.ndarray):
            raise InputError(self.label, name, "an array", got="a file that is none")
        return array

    def listed(self) -> str:
        return ", ".join(self.names) or "nothing"


def _unreadable(label: str, error: Exception) -> InputError:
    if "pickle" in str(error).lower():
        return InputError("", label, "plain numbers or text", got="pickled objects, which are never loaded")
    return InputError("", label, "a file that can be read", reason=first_line(error))

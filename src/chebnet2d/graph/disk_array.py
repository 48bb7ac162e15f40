"""Numbers in a file without a name: the system removes it when the process ends, in whatever way."""

import tempfile
import weakref
from typing import Any

import numpy as np


class DiskArray:
    """A vector that grows at its end or is written anywhere, and is read by slices.

    Read and written, not mapped: mapped pages would count as memory of this process. It lies in the folder for temporary files
    (``$TMPDIR``).
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype, self.size = np.dtype(dtype), 0
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it lives as long as this object
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self.size

    def append(self, values: Any) -> None:
        self.write(self.size, values)

    def write(self, place: int, values: Any) -> None:
        content = np.ascontiguousarray(values, dtype=self.dtype).view(np.uint8).data
        self._file.seek(place * self.dtype.itemsize)
        try:
            while content:
                content = content[self._file.write(content) :]
        except OSError as error:  # of a full disk, most of all: which one, a file without a name cannot tell
            raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from None
        self.size = max(self.size, place + len(values))

    def read(self, start: int, stop: int) -> Any:
        found = np.empty(max(0, stop - start), dtype=self.dtype)
        content = found.view(np.uint8).data
        self._file.seek(start * self.dtype.itemsize)
        while content:
            count = self._file.readinto(content)
            if not count:
                raise EOFError("a temporary file is shorter than what was written to it")
            content = content[count:]
        return found

"""L_hat, P or P~ of a graph on disk: read by rows, never whole."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.graph.disk_array import DiskArray
from chebnet2d.graph.external_sort import DiskRows

_CHUNK = 1 << 21  # entries at a time
_MOST = 2**31 - 1


class DiskOperator:
    """The same numbers in the same order as those of a ``SparseOperator``, for products by ``large_step`` alone."""

    symmetric = True
    dtype = torch.float32
    device = torch.device("cpu")

    def __init__(self, rows: DiskRows, nodes: int, kind: str) -> None:
        self.shape, self.kind = (nodes, nodes), kind
        loops = 1 if kind == "P~" else 0
        starts = rows.starts + loops * np.arange(nodes + 1)
        self.starts = starts.astype(np.int32 if starts[-1] <= _MOST else np.int64)
        self.columns, self.values = DiskArray(np.int32), DiskArray(np.float32)
        self._fill(rows, loops)

    @property
    def nnz(self) -> int:
        return int(self.starts[-1])

    def rows(self, start: int, stop: int) -> tuple[Tensor, Tensor, Tensor]:
        """Of some rows: where each begins among their entries, columns and values."""
        first, last = int(self.starts[start]), int(self.starts[stop])
        offsets = torch.from_numpy((self.starts[start : stop + 1] - first).astype(np.int32))
        return offsets, torch.from_numpy(self.columns.read(first, last)), torch.from_numpy(self.values.read(first, last))

    def pieces(self) -> Iterator[tuple[Any, int, Iterator[Any]]]:
        """(type, size, parts) of the three arrays of the matrix, for a digest."""
        yield self.starts.dtype, self.starts.size, iter([self.starts])
        for array in (self.columns, self.values):
            yield (
                array.dtype,
                self.nnz,
                (array.read(start, min(start + _CHUNK, self.nnz)) for start in range(0, self.nnz, _CHUNK)),
            )

    def to(self, *, dtype: torch.dtype | None = None, device: torch.device | str | None = None) -> "DiskOperator":
        if dtype not in (None, self.dtype) or (device is not None and torch.device(device).type != "cpu"):
            raise InputError("precompute", "device", "cpu for a graph whose edges are on disk", got=str(device))
        return self

    def _fill(self, rows: DiskRows, loops: int) -> None:
        nodes, (starts, columns, heavy, weights) = self.shape[0], rows
        total = np.diff(starts).astype(np.float64) + loops
        for start in range(0, len(heavy), _CHUNK):
            stop = min(start + _CHUNK, len(heavy))
            own = np.searchsorted(starts, heavy.read(start, stop), side="right") - 1
            total += np.bincount(own, weights.read(start, stop) - 1, minlength=nodes)
        scale = np.zeros(nodes)
        np.divide(1.0, np.sqrt(total), out=scale, where=total > 0)
        sign, row, used = -1.0 if self.kind == "L_hat" else 1.0, 0, 0
        while row < nodes:
            last = max(row + 1, int(np.searchsorted(starts, starts[row] + _CHUNK, side="right")) - 1)
            last = min(last, nodes)
            r = np.repeat(np.arange(row, last), np.diff(starts[row : last + 1]))
            c = columns.read(int(starts[row]), int(starts[last])).astype(np.int64)
            value = scale[r] * scale[c]
            count = used
            while count < len(heavy):  # those of these rows; there may be many
                places = heavy.read(count, min(count + _CHUNK, len(heavy)))
                inside = int(np.searchsorted(places, starts[last]))
                own = places[:inside] - starts[row]
                value[own] = weights.read(count, count + inside) * value[own]
                count += inside
                if inside < places.size:
                    break
            used = count
            if loops:
                place = np.searchsorted(r * nodes + c, np.arange(row, last) * (nodes + 1))
                c = np.insert(c, place, np.arange(row, last))
                value = np.insert(value, place, scale[row:last] * scale[row:last])
            self.columns.append(c)
            self.values.append(sign * value)
            row = last

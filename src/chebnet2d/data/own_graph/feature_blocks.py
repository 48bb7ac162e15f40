"""Blocks of feature columns: numbers, or a sparse matrix (of categories, too). Missing values are filled here, once.

A node that has no row is a row whose values are all missing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from chebnet2d._checks import InputError

Place = Callable[[int, int], str]  # (row, column of the block) -> "features.csv, line 17: column 'age'"


@dataclass
class Dense:
    """float32 with NaN for what is missing."""

    values: Any
    place: Place

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    def missing(self) -> str | None:
        """The place of the first missing value."""
        row = _first_row(np.isnan(self.values))
        return None if row is None else self.place(row, int(np.isnan(self.values[row]).argmax()))

    def means(self) -> Any:
        present = ~np.isnan(self.values)
        return np.where(present, self.values, 0).sum(axis=0, dtype=np.float64) / np.maximum(present.sum(axis=0), 1)

    def rows(self, order: Any, fill: Any) -> Any:
        """The rows in the given order, -1 for a row of ``fill``, which has a number for each column."""
        values = np.where(np.isnan(self.values), fill.astype(np.float32), self.values)
        if np.array_equal(order, np.arange(len(values))):
            return values
        out = np.empty((len(order), self.width), dtype=np.float32)
        found = order >= 0
        out[found], out[~found] = values[order[found]], fill
        return out


@dataclass
class Sparse:
    """A scipy CSR matrix, NaN for what is missing. ``absent`` flags rows without any value, as a category that is not stated."""

    matrix: Any
    absent: Any
    place: Place

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    def missing(self) -> str | None:
        if self.absent.any():
            return self.place(int(self.absent.argmax()), 0)
        bad = np.flatnonzero(np.isnan(self.matrix.data))
        if not bad.size:
            return None
        row = int(np.searchsorted(self.matrix.indptr, bad[0], side="right")) - 1
        return self.place(row, int(self.matrix.indices[bad[0]]))

    def means(self) -> Any:
        bad = np.isnan(self.matrix.data)
        sums = np.bincount(self.matrix.indices, weights=np.where(bad, 0, self.matrix.data), minlength=self.width)
        present = np.sum(~self.absent) - np.bincount(self.matrix.indices[bad], minlength=self.width)
        return sums / np.maximum(present, 1)

    def rows(self, order: Any, fill: Any) -> Any:
        matrix, absent, bad = self.matrix, self.absent, np.isnan(self.matrix.data)
        if bad.any():
            matrix = matrix.copy()
            matrix.data[bad] = fill[matrix.indices[bad]]
        if not np.array_equal(order, np.arange(matrix.shape[0])):  # -1 takes a last row, which is empty
            empty = scipy.sparse.csr_array((1, self.width), dtype=np.float32)
            matrix = scipy.sparse.csr_array(scipy.sparse.vstack([matrix, empty], format="csr")[order])
            absent = np.append(absent, True)[order]
        rows, columns = np.flatnonzero(absent), np.flatnonzero(fill)
        if not len(rows) or not len(columns):
            return matrix
        values = np.tile(fill[columns].astype(np.float32), len(rows))
        entries = (values, (np.repeat(rows, len(columns)), np.tile(columns, len(rows))))
        return scipy.sparse.csr_array(matrix + scipy.sparse.csr_array(entries, shape=matrix.shape))


Block = Dense | Sparse


def as_float32(values: Any, place: Place) -> Any:
    """Numbers as float32; what is infinite, or too large for float32, is an error."""
    with np.errstate(over="ignore"):
        numbers = np.asarray(values).astype(np.float32)
    row = _first_row(np.isinf(numbers))
    if row is not None:
        column = int(np.isinf(numbers[row]).argmax())
        raise InputError("", place(row, column), "a finite number", got=str(np.asarray(values)[row, column]))
    return numbers


def _first_row(flags: Any) -> int | None:
    found = flags.any(axis=1)
    return int(found.argmax()) if found.any() else None

"""Blocks of feature columns: numbers, categories (one-hot), or one sparse matrix. Missing values are filled here, once.

A node that has no row is a row whose values are all missing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from chebnet2d._checks import InputError

Place = Callable[[int, int], str]  # (row, column of the block) -> "features.csv, line 17: column 'age'"


class Block(Protocol):
    """Some columns of the feature matrix. ``fill`` has one number for each column, what a missing value becomes."""

    @property
    def width(self) -> int: ...

    def missing(self) -> str | None:
        """The place of the first missing value."""

    def means(self) -> Any: ...

    def rows(self, order: Any, fill: Any) -> Any:
        """The rows in the given order, -1 for a row of ``fill``: a float32 array or a sparse one."""


@dataclass
class Dense:
    """float32 with NaN for what is missing."""

    values: Any
    place: Place

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    def missing(self) -> str | None:
        row = _first_row(np.isnan(self.values))
        return None if row is None else self.place(row, int(np.isnan(self.values[row]).argmax()))

    def means(self) -> Any:
        present = ~np.isnan(self.values)
        return np.where(present, self.values, 0).sum(axis=0, dtype=np.float64) / np.maximum(present.sum(axis=0), 1)

    def rows(self, order: Any, fill: Any) -> Any:
        return _ordered(np.where(np.isnan(self.values), fill.astype(np.float32), self.values), order, fill)


@dataclass
class OneHot:
    """``codes``: a category for each row, -1 if missing. ``place`` gets column 0."""

    codes: Any
    categories: list[str]
    place: Place

    @property
    def width(self) -> int:
        return len(self.categories)

    def missing(self) -> str | None:
        row = _first_row((self.codes < 0)[:, None])
        return None if row is None else self.place(row, 0)

    def means(self) -> Any:
        counts = np.bincount(self.codes[self.codes >= 0], minlength=self.width)
        return counts / max(int(counts.sum()), 1)

    def rows(self, order: Any, fill: Any) -> Any:
        codes = np.where(order >= 0, self.codes[order], -1) if len(self.codes) else np.full(len(order), -1)
        known = np.flatnonzero(codes >= 0)
        ones = np.ones(len(known), dtype=np.float32)
        matrix = scipy.sparse.csr_array((ones, (known, codes[known])), shape=(len(codes), self.width))
        return _with_filled_rows(matrix, np.flatnonzero(codes < 0), fill)


@dataclass
class Sparse:
    """A scipy CSR matrix, NaN for what is missing."""

    matrix: Any
    place: Place

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    def missing(self) -> str | None:
        bad = np.flatnonzero(np.isnan(self.matrix.data))
        if not bad.size:
            return None
        entry = int(bad[0])
        row = int(np.searchsorted(self.matrix.indptr, entry, side="right")) - 1
        return self.place(row, int(self.matrix.indices[entry]))

    def means(self) -> Any:
        bad = np.isnan(self.matrix.data)
        sums = np.bincount(self.matrix.indices, weights=np.where(bad, 0, self.matrix.data), minlength=self.width)
        present = self.matrix.shape[0] - np.bincount(self.matrix.indices[bad], minlength=self.width)
        return sums / np.maximum(present, 1)

    def rows(self, order: Any, fill: Any) -> Any:
        matrix = self.matrix
        bad = np.isnan(matrix.data)
        if bad.any():
            matrix = matrix.copy()
            matrix.data[bad] = fill[matrix.indices[bad]]
        if np.array_equal(order, np.arange(matrix.shape[0])):
            return matrix
        if not matrix.shape[0]:
            matrix = scipy.sparse.csr_array((1, self.width), dtype=np.float32)
        found = scipy.sparse.diags_array((order >= 0).astype(np.float32)) @ matrix[np.maximum(order, 0)]
        return _with_filled_rows(scipy.sparse.csr_array(found), np.flatnonzero(order < 0), fill)


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


def _ordered(values: Any, order: Any, fill: Any) -> Any:
    if np.array_equal(order, np.arange(values.shape[0])):
        return values
    out = np.empty((len(order), values.shape[1]), dtype=np.float32)
    found = order >= 0
    out[found] = values[order[found]]
    out[~found] = fill
    return out


def _with_filled_rows(matrix: Any, rows: Any, fill: Any) -> Any:
    columns = np.flatnonzero(fill)
    if not len(rows) or not len(columns):
        return matrix
    values = np.tile(fill[columns].astype(np.float32), len(rows))
    entries = (values, (np.repeat(rows, len(columns)), np.tile(columns, len(rows))))
    return scipy.sparse.csr_array(matrix + scipy.sparse.csr_array(entries, shape=matrix.shape))

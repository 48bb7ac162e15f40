"""What each column becomes: by its type and its values, never by the labels.

moment      dates and times, by type or by the way they are spelt
flag        truth values, yes/no words, numbers that are 0 and 1 only
count       one of at least 64 columns of numbers >= 0 that are zero in half of the rows or more: left as it is
number      all other numbers
category    words that come back, and whole numbers in a column that is named like an id
vector      lists of equal length
left out    constant and empty columns; words, and whole numbers named like an id, of which nearly every node has its own
"""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chebnet2d._checks import one_of
from chebnet2d.preparation.arrays import FALSE_WORDS, TRUE_WORDS, as_numbers, as_words, is_words, layout_of
from chebnet2d.preparation.kinds.category import Category
from chebnet2d.preparation.kinds.count import Count
from chebnet2d.preparation.kinds.flag import Flag
from chebnet2d.preparation.kinds.kind import ColumnKind
from chebnet2d.preparation.kinds.left_out import LeftOut
from chebnet2d.preparation.kinds.moment import Moment
from chebnet2d.preparation.kinds.number import Number
from chebnet2d.preparation.kinds.vector import Vector, is_vectors

MODES = ("auto", "none", "standard", "quantile")
MANY = 64
FEW = 10
_ID_NAMES = (re.compile(r"(?:^|[_\s-])(?:id|ids|uuid|guid)$", re.IGNORECASE), re.compile(r"[a-z](?:Id|ID)$"))


def named_like_id(name: str) -> bool:
    """
    >>> [named_like_id(name) for name in ("person_id", "userId", "ID", "paid", "valid")]
    [True, True, True, False, False]
    """
    return any(pattern.search(name.strip()) for pattern in _ID_NAMES)


def choose_columns(columns: Iterable[tuple[str, Any]], mode: str = "auto") -> list[ColumnKind]:
    """``columns``: names and Arrow arrays (or numpy vectors) of N nodes. ``mode``: "auto", or one scaling for all numbers."""
    scaling = None if one_of("preparation", "preprocess", mode, MODES[:1] + MODES[2:]) == "auto" else mode
    chosen: list[ColumnKind] = []
    sparse: list[int] = []
    for name, array in columns:
        kind, mostly_zero = _choose(name, array, scaling)
        if mostly_zero:
            sparse.append(len(chosen))
        chosen.append(kind)
    if len(sparse) >= MANY:
        for position in sparse:
            if isinstance(chosen[position], Number):
                chosen[position] = Count(chosen[position].name)
    return chosen


def _choose(name: str, array: Any, scaling: str | None) -> tuple[ColumnKind, bool]:
    """(the kind, whether the column is one of numbers >= 0 without gaps that are mostly zero)."""
    if not isinstance(array, np.ndarray):
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        if array.null_count == len(array):
            return LeftOut(name, "it is empty"), False
        if is_vectors(array):
            return Vector.fit(name, array), False
        if pa.types.is_temporal(array.type):
            return _moment(name, array, ""), False
        if is_words(array):
            return _words(name, array), False
    values, _ = as_numbers(array)
    present = values[~np.isnan(values)]
    if not present.size:
        return LeftOut(name, "it is empty"), False
    whole = bool((np.floor(present) == present).all())
    if whole and named_like_id(name):
        distinct = np.unique(present).size
        if nearly_unique(distinct, present.size):
            return LeftOut(name, f"ids ({distinct} different numbers)"), False
        if distinct > 2:
            return Category.fit(name, as_words(pa.array(values, from_pandas=True))), False
    return _numbers(name, values, present, scaling)


def _numbers(name: str, values: Any, present: Any, scaling: str | None) -> tuple[ColumnKind, bool]:
    low, high, full = present.min(), present.max(), present.size == values.size
    mostly_zero = bool(full and low >= 0 and 2 * np.count_nonzero(present) <= present.size)
    if low == high and full:
        return LeftOut(name, f"it is {low:g} everywhere"), False
    if low == 0 and high == 1 and bool(((present == 0) | (present == 1)).all()):
        return Flag.fit(name, values), mostly_zero
    return Number.fit(name, values, scaling), mostly_zero


def _words(name: str, words: Any) -> ColumnKind:
    distinct = pc.unique(words.drop_null())
    count, present = len(distinct), len(words) - words.null_count
    if count == 1 and present == len(words):
        return LeftOut(name, f"it is {str(distinct[0])[:40]!r} everywhere")
    if count == 2 and set(pc.utf8_lower(distinct).to_pylist()) <= {*TRUE_WORDS, *FALSE_WORDS}:
        values, _ = as_numbers(words)
        if np.unique(values[~np.isnan(values)]).size == 2:
            return Flag.fit(name, values)
    layout = layout_of(words)
    if layout is not None:
        return _moment(name, words, layout)
    if nearly_unique(count, present):
        return LeftOut(name, f"{count} different words for {present} nodes")
    return Category.fit(name, words)


def _moment(name: str, array: Any, layout: str) -> ColumnKind:
    found = Moment.fit(name, array, layout)
    return found if found.spread > 0 else LeftOut(name, "it is the same moment everywhere")


def nearly_unique(distinct: int, present: int) -> bool:
    """More than ten different values, and more than half as many as nodes that have one."""
    return distinct > FEW and 2 * distinct > present

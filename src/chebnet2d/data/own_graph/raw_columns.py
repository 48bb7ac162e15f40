"""The columns of a node table as they are, for the preparation to encode: text trimmed, gaps as nulls, numbers as numbers.

What no model can use is a problem. All problems of all columns are told at once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.csv_table import MISSING
from chebnet2d.data.own_graph.table import Table, is_numeric, shown
from chebnet2d.preparation.arrays import NUMBER

GAPS = (*MISSING, "n/a", "na", "#N/A", "<NA>", "none", "?", "-", "--")
"""Words that stand for a missing value in a column of features."""
_LIMITS = ((np.int8, pa.int8()), (np.int16, pa.int16()), (np.int32, pa.int32()))


class Problem(Exception):
    """What is wrong with a column: a sentence as an ``InputError``."""

    def __init__(self, error: InputError) -> None:
        self.error = error


def raw_columns(table: Table, positions: Sequence[int], arrays: dict[int, Any]) -> tuple[Any, list[InputError]]:
    """(an Arrow table of the columns that can be used, the problems of the others)."""
    columns: dict[str, Any] = {}
    problems: list[InputError] = []
    for i in positions:
        name, number = table.names[i], 2
        while name in columns:
            name, number = f"{table.names[i]} ({number})", number + 1
        try:
            columns[name] = _clean(table, i, arrays[i])
        except Problem as problem:
            problems.append(problem.error)
    rows = len(arrays[positions[0]]) if positions else 0
    return pa.table(columns) if columns else pa.table({"": pa.nulls(rows)}).drop_columns([""]), problems


def _clean(table: Table, column: int, array: Any) -> Any:
    kind = array.type
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_decimal(kind):
        return array.cast(pa.float64())
    if pa.types.is_integer(kind):
        return _narrow(array)
    if pa.types.is_floating(kind):
        return _finite(table, column, array.cast(pa.float64()))
    if is_numeric(kind):
        return array
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return array
    if pa.types.is_string(kind):
        return _text(table, column, array)
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind):
        return _lists(table, column, array)
    where = f"column {table.names[column]!r}"
    hint = "Leave the column out by {}."
    error = InputError(table.label, where, "numbers or text", got=f"type {kind}", hint=hint, mentions=("ignore",), verb="hold")
    raise Problem(error)


def _narrow(array: Any) -> Any:
    """Integers in the smallest type that holds them: tables of many counts take an eighth of the memory."""
    bounds = pc.min_max(array)
    low, high = bounds["min"].as_py(), bounds["max"].as_py()
    if low is None:
        return array
    fits = (kind for limits, kind in _LIMITS if np.iinfo(limits).min <= low and high <= np.iinfo(limits).max)
    return array.cast(next(fits, array.type))


def _finite(table: Table, column: int, array: Any) -> Any:
    values = np.asarray(array.fill_null(float("nan")))
    bad = np.isinf(values)
    if bad.any():
        raise Problem(_cell(table, int(bad.argmax()), column, "a finite number"))
    return pc.if_else(pc.is_nan(array), pa.scalar(None, pa.float64()), array)


def _text(table: Table, column: int, array: Any) -> Any:
    array = pc.utf8_trim_whitespace(array)
    array = pc.if_else(pc.is_in(array, value_set=pa.array(GAPS)), pa.scalar(None, pa.string()), array)
    numeric = np.asarray(pc.match_substring_regex(array, f"^{NUMBER}$").fill_null(False))
    words = np.asarray(array.is_valid()) & ~numeric
    if not words.any() and numeric.any():
        return _finite(table, column, array.cast(pa.float64()))
    if numeric.sum() > words.sum():
        hint = "Most of the column is numbers: correct the value, leave the field empty, or leave the column out by {}."
        raise Problem(_cell(table, int(words.argmax()), column, "a number", hint))
    return array


def _lists(table: Table, column: int, array: Any) -> Any:
    lengths = np.asarray(pc.list_value_length(array).fill_null(-1))
    present = lengths >= 0
    width = int(lengths[present][0]) if present.any() else 0
    bad = present & (lengths != width)
    if bad.any():
        row = int(bad.argmax())
        what = f"{table.where(row)}: column {table.names[column]!r}"
        raise Problem(InputError("", what, f"lists of {width} numbers as the first row", got=str(lengths[row]), verb="hold"))
    if not is_numeric(array.type.value_type):
        what = f"column {table.names[column]!r}"
        raise Problem(InputError(table.label, what, "lists of numbers", got=f"type {array.type}", verb="hold"))
    flat = np.asarray(pc.list_flatten(array).cast(pa.float64(), safe=False).fill_null(0.0))
    if np.isinf(flat).any():
        row = int(np.flatnonzero(present)[int(np.isinf(flat).argmax()) // max(width, 1)])
        what = f"{table.where(row)}: column {table.names[column]!r}"
        raise Problem(InputError("", what, "finite numbers", got="an infinite one", verb="hold"))
    return array


def _cell(table: Table, row: int, column: int, rule: str, hint: str = "") -> InputError:
    what = f"{table.where(row)}: column {table.names[column]!r}"
    return InputError("", what, rule, got=shown(table.cell(row, column)), hint=hint, mentions=("ignore",) if hint else ())

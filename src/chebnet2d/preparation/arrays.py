"""Arrow arrays of one column as numbers, words or seconds, whatever type the column has in this graph.

A gap is a null. A value that cannot be read as what the model expects becomes a gap too, and is counted.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

NUMBER = r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*"
TRUE_WORDS = ("true", "yes", "y", "t")
FALSE_WORDS = ("false", "no", "n", "f")
LAYOUTS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%H:%M:%S", "%H:%M")
"""How dates and times are spelt. 03/04/2024 is the 4th of March, unless another row shows that days come first."""
_ISO = r"^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?$"
_UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
Values = tuple[Any, int]
"""float64 with NaN for gaps, and how many values could not be read."""


def is_words(array: Any) -> bool:
    return bool(pa.types.is_string(array.type))


def as_numbers(array: Any) -> Values:
    """Numbers, truth values as 1 and 0, moments in time as seconds, and words that spell one of these."""
    if isinstance(array, np.ndarray):
        array = pa.array(array, from_pandas=True)
    if pa.types.is_null(array.type):
        return np.full(len(array), np.nan), 0
    if pa.types.is_temporal(array.type):
        return as_seconds(array, None)
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    if not is_words(array):
        values = np.array(array.cast(pa.float64(), safe=False).fill_null(float("nan")), dtype=np.float64)
        bad = np.isinf(values)
        values[bad] = np.nan
        return values, int(bad.sum())
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(array))
    true, false = (np.asarray(pc.is_in(lower, value_set=pa.array(words))) for words in (TRUE_WORDS, FALSE_WORDS))
    spelt = pc.match_substring_regex(lower, f"^{NUMBER}$").fill_null(False)
    values = np.array(pc.if_else(spelt, lower, None).cast(pa.float64()).fill_null(float("nan")), dtype=np.float64)
    values[true], values[false] = 1.0, 0.0
    values[np.isinf(values)] = np.nan
    return values, int(np.isnan(values).sum()) - array.null_count


def as_words(array: Any) -> Any:
    """Strings with nulls. Whole numbers have no point, so that ``3`` in one file is ``3.0`` of another."""
    if is_words(array):
        return array
    if pa.types.is_boolean(array.type):
        return pc.if_else(array, "true", "false")
    if pa.types.is_floating(array.type):
        values = np.asarray(array.cast(pa.float64()).fill_null(float("nan")))
        if (np.isnan(values) | ((np.floor(values) == values) & (np.abs(values) < 2**53))).all():
            array = pa.array(np.nan_to_num(values).astype(np.int64), mask=np.isnan(values))
    return array.cast(pa.string())


def as_seconds(array: Any, layout: str | None) -> Values:
    """Seconds since 1970, or since midnight for a time of the day. ``layout``: how words spell them."""
    unread, kind = 0, array.type
    if is_words(array) and layout is not None:
        parsed = _parsed(array, layout)
        unread, array, kind = parsed.null_count - array.null_count, parsed, parsed.type
    if not pa.types.is_temporal(kind):
        return np.full(len(array), np.nan), len(array) - array.null_count
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        unit = _UNITS[kind.unit]
        ticks = array.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    else:
        unit = 1e6
        ticks = array.cast(pa.timestamp("us", tz=getattr(kind, "tz", None)), safe=False).cast(pa.int64())
    return np.asarray(ticks.cast(pa.float64(), safe=False).fill_null(float("nan"))) / unit, unread


def layout_of(words: Any) -> str | None:
    """The first layout by which every word reads; None where none does."""
    distinct = pc.unique(words.drop_null())
    if not len(distinct):
        return None
    first = distinct.slice(0, 50)
    fits = (layout for layout in LAYOUTS if not _parsed(first, layout).null_count)
    return next((layout for layout in fits if not _parsed(distinct, layout).null_count), None)


def _parsed(words: Any, layout: str) -> Any:
    """Fractions of a second and zones are left out: a model does not need them."""
    plain = pc.replace_substring_regex(words, _ISO, r"\1 \2")
    return pc.strptime(plain, format=layout, unit="s", error_is_null=True)

"""Columns of a table as blocks of features: numbers stay numbers, words become categories if the user asks for that."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.csv_table import MISSING, NUMBER
from chebnet2d.data.own_graph.feature_blocks import Block, Dense, Place, Sparse, as_float32
from chebnet2d.data.own_graph.table import Table, is_numeric, shown


def feature_block(table: Table, group: list[int], arrays: dict[int, Any], categorical: str) -> tuple[Block, list[str]]:
    """(the block, the names of its columns) of several numeric columns, or of a single one of any other type."""

    def place(row: int, column: int) -> str:
        return f"{table.where(row)}: column {table.names[group[column]]!r}"

    kind = arrays[group[0]].type
    if is_numeric(kind):
        values = np.empty((len(arrays[group[0]]), len(group)), dtype=np.float64)
        for k, i in enumerate(group):
            values[:, k] = _numbers(arrays[i])
        return Dense(as_float32(values, place), place), [table.names[i] for i in group]
    (column,) = group
    array = arrays[column]
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind):
        return _vectors(table, column, array, place)
    if pa.types.is_temporal(kind):
        array = array.cast(pa.string())
    elif not pa.types.is_string(kind):
        raise InputError(table.label, f"column {table.names[column]!r}", "numbers or text", got=f"type {kind}", verb="hold")
    return _words(table, column, array, categorical, place)


def _numbers(array: Any) -> Any:
    if pa.types.is_null(array.type):
        return np.full(len(array), np.nan)
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    return np.asarray(array.cast(pa.float64(), safe=False).fill_null(float("nan")))


def _words(table: Table, column: int, array: Any, categorical: str, place: Place) -> tuple[Block, list[str]]:
    name = table.names[column]
    array = pc.utf8_trim_whitespace(array)
    array = pc.if_else(pc.is_in(array, value_set=pa.array(MISSING)), pa.scalar(None, pa.string()), array)
    numeric = np.asarray(pc.match_substring_regex(array, f"^{NUMBER}$").fill_null(False))
    present = np.asarray(array.is_valid())
    words = present & ~numeric
    if not words.any():  # numbers after all, written in a way that pyarrow does not read, or text in Parquet
        values = np.array([np.nan if text is None else float(text) for text in array.to_pylist()])[:, None]
        return Dense(as_float32(values, place), place), [name]
    mentions: tuple[str, ...] = ()
    if numeric.sum() > words.sum():
        hint = "Most of the column is numbers: correct the value, or leave it empty and choose 'zero' or 'mean' by {}."
        mentions = ("missing_features",)
    elif categorical == "error":
        hint = "Encode a column of words as 'one-hot' by {}, leave it out by {}, or name it by {} or {} if it holds that."
        mentions = ("categorical", "ignore", "node_id", "label")
    if mentions:
        row = int(words.argmax())
        raise InputError("", place(row, 0), "a number", got=shown(table.cell(row, column)), hint=hint, mentions=mentions)
    categories = pc.unique(array.drop_null())
    categories = categories.take(pc.sort_indices(categories))
    codes = np.asarray(pc.index_in(array, value_set=categories).fill_null(0))[present]
    shape = (len(array), len(categories))
    matrix = scipy.sparse.csr_array((np.ones(len(codes), dtype=np.float32), (np.flatnonzero(present), codes)), shape=shape)
    return Sparse(matrix, ~present, place), [f"{name}={category}" for category in categories.to_pylist()]


def _vectors(table: Table, column: int, array: Any, place: Place) -> tuple[Block, list[str]]:
    """A column of lists of equal length, as embeddings are stored in Parquet. A row without a list is missing."""
    name = table.names[column]
    lengths = np.asarray(pc.list_value_length(array).fill_null(-1))
    present = lengths >= 0
    width = int(lengths[present][0]) if present.any() else 0
    bad = present & (lengths != width)
    if bad.any():
        row = int(bad.argmax())
        raise InputError("", place(row, 0), f"lists of {width} numbers as the first row", got=str(lengths[row]), verb="hold")
    flat = pc.list_flatten(array)
    if not is_numeric(flat.type):
        raise InputError(table.label, f"column {name!r}", "lists of numbers", got=f"type {array.type}", verb="hold")

    def place_in_list(row: int, entry: int) -> str:
        return f"{place(row, 0)}, entry {entry}"

    values = np.full((len(array), width), np.nan)
    if width:  # numpy cannot tell how many rows of no numbers there are
        values[present] = _numbers(flat).reshape(-1, width)
    return Dense(as_float32(values, place_in_list), place_in_list), [f"{name}[{k}]" for k in range(width)]

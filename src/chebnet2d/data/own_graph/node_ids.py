"""From the user's ids to node numbers, without a Python loop over edges.

Ids are integers if every id in every file is written as one (``12``, not ``012`` or ``1.0``), and strings otherwise. Nodes are
sorted by id, integers by value and strings by code point: the order of rows in the files does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.table import Table, shown

_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"
_LARGEST = 10**18  # the first that has a digit too many for it


@dataclass(frozen=True)
class IdColumns:
    """The ids of one or two columns of a table: ``values[codes[k]]`` is the k-th id, columns one after the other."""

    table: Table
    columns: tuple[int, ...]
    role: str
    codes: Any
    values: Any

    def first(self, flags: Any) -> tuple[int, int] | None:
        """(row, column) of the first id whose flag is set; both columns of a row before the next row."""
        if not flags.any():
            return None
        row, k = divmod(int(flags.reshape(len(self.columns), -1).T.argmax()), len(self.columns))
        return row, self.columns[k]


def encode(table: Table, columns: Sequence[int], arrays: Sequence[Any], role: str) -> IdColumns:
    """Number the distinct ids of the given columns. An id that is missing is an error that names its line."""
    for array, column in zip(arrays, columns, strict=True):
        if array.null_count:
            row = int(np.asarray(array.is_null()).argmax())
            raise table.bad_cell(row, column, role, "an id")
    arrays = [_integers_or_text(table, column, array, role) for array, column in zip(arrays, columns, strict=True)]
    if len({array.type for array in arrays}) > 1:
        arrays = [array.cast(pa.string()) for array in arrays]
    together = pa.chunked_array([chunk for array in arrays for chunk in array.chunks], type=arrays[0].type)
    encoded = together.dictionary_encode()
    values = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], arrays[0].type)
    parts = [np.asarray(chunk.indices) for chunk in encoded.chunks]
    codes = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
    del arrays, together, encoded, parts  # the texts of all edges are more than all that follows
    if pa.types.is_string(values.type):  # blanks around ids do not count: ``a, b`` in a file means the nodes ``a`` and ``b``
        trimmed = pc.utf8_trim_whitespace(values).dictionary_encode()
        values, codes = trimmed.dictionary, np.asarray(trimmed.indices)[codes]
    ids = IdColumns(table, tuple(columns), role, codes, values)
    if pa.types.is_string(values.type):
        empty = ids.first(np.asarray(pc.equal(values, ""))[codes])
        if empty is not None:
            raise table.bad_cell(*empty, role, "an id")
    return ids


def _integers_or_text(table: Table, column: int, array: Any, role: str) -> Any:
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_null(kind):
        texts = array.cast(pa.string())
        parts = [_written_integers(chunk) for chunk in texts.chunks]
        return texts if any(part is None for part in parts) else pa.chunked_array(parts, type=pa.int64())
    if pa.types.is_integer(kind):
        try:
            return array.cast(pa.int64())
        except pa.ArrowInvalid:  # beyond int64: treated as text
            return array.cast(pa.string())
    if pa.types.is_floating(kind):  # pandas makes integers floats where a value was missing once
        numbers = np.asarray(array.cast(pa.float64()))
        bad = ~(np.isfinite(numbers) & (np.floor(numbers) == numbers) & (np.abs(numbers) < 2**53))
        if bad.any():
            raise table.bad_cell(int(bad.argmax()), column, role, "an integer or text")
        return pa.chunked_array([pa.array(numbers.astype(np.int64))])
    raise InputError(table.label, table.called(column, role), "a column of integers or text", got=f"type {kind}")


def _written_integers(texts: Any) -> Any | None:
    """The texts as integers, if each is one as one writes it, else ``None``. Integers are hashed in a third of the time."""
    try:
        numbers = texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    values = np.asarray(numbers)
    small = bool(((values > -_LARGEST) & (values < _LARGEST)).all())
    return numbers if small and numbers.cast(pa.string()).equals(texts) else None  # not 012, and not the 0x1F that it reads


def distinct_integers(values: Any) -> Any | None:
    """The values as an int64 array if each is an integer as one writes it, else ``None``."""
    if pa.types.is_integer(values.type):
        return np.asarray(values)
    if not np.asarray(pc.match_substring_regex(values, _INTEGER)).all():
        return None
    return np.asarray(values.cast(pa.int64()))


def union(parts: Sequence[IdColumns]) -> tuple[Any, list[Any]]:
    """All ids in order, and for each part the node number of each of its ids."""
    integers = [values for values in map(distinct_integers, (part.values for part in parts)) if values is not None]
    if len(integers) == len(parts):
        ids: Any = np.unique(np.concatenate(integers))
        return ids, [np.asarray(np.searchsorted(ids, values))[part.codes] for part, values in zip(parts, integers, strict=True)]
    texts = [part.values.cast(pa.string()) for part in parts]
    everything = pc.unique(pa.chunked_array(texts))
    in_order = everything.take(pc.sort_indices(everything))
    numbers = [np.asarray(pc.index_in(text, value_set=in_order)).astype(np.int64) for text in texts]
    ids = np.array(in_order.to_pylist(), dtype=object)
    return ids, [number[part.codes] for part, number in zip(parts, numbers, strict=True)]


def positions(part: IdColumns, nodes: int, owner: str) -> Any:
    """Ids as they stand are the node numbers, because the rows of ``owner`` (the features) carry no ids: 0..nodes - 1."""
    values = distinct_integers(part.values)
    hint = f"The rows of {owner} have no ids, so they are the nodes 0 to {nodes - 1}; an id column there allows any ids."
    rule = f"a node number from 0 to {nodes - 1}"
    if values is None:
        wrong = ~np.asarray(pc.match_substring_regex(part.values, _INTEGER))
    else:
        wrong = (values < 0) | (values >= nodes)
    bad = part.first(wrong[part.codes])
    if bad is not None:
        raise part.table.bad_cell(*bad, part.role, rule, hint)
    assert values is not None
    return values.astype(np.int64)[part.codes]


def encode_once(table: Table, column: int, array: Any) -> IdColumns:
    """Ids of a features or labels table. Two rows about one node are an error."""
    part = encode(table, (column,), (array,), "id")
    if len(part.values) < len(part.codes):
        _, firsts, back = np.unique(part.codes, return_index=True, return_inverse=True)
        row = int((firsts[back] < np.arange(len(back))).argmax())
        place = table.where(int(firsts[back[row]])).rsplit(", ", 1)[-1]
        got = f"{shown(table.cell(row, column))} again ({place} has it)"
        raise InputError(table.where(row), "id", "once", got=got, verb="occur")
    return part

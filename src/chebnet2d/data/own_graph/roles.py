"""Columns of the node table that say how nodes are cut into parts: by a word, by time, by group."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.columns import find, named
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.table import Table
from chebnet2d.preparation.arrays import LAYOUTS, as_numbers, as_seconds, as_words, is_words

SPLIT_NAMES = ("split", "part", "subset", "partition")
PART_WORDS = {
    "train": ("train", "training", "tr"),
    "val": ("val", "valid", "validation", "dev"),
    "test": ("test", "testing", "te"),
}
NO_PART = ("", "none", "unlabelled", "unlabeled")


def role_columns(table: Table, options: ReadOptions) -> dict[str, int]:
    """role -> position. A split column is known by its name and by its words, the others by the user's word alone."""
    asked = {"split": options.split_column, "time": options.time_column, "group": options.group_column}
    roles = {role: named(table, f"{role}_column", name) for role, name in asked.items() if name is not None}
    if "split" not in roles and table.has_header:
        found = find(table, SPLIT_NAMES)
        if found is not None and _all_parts(table.read((found,), text=(found,))[0]):
            roles["split"] = found
    return roles


def masks_of(table: Table, column: int, array: Any) -> dict[str, Tensor]:
    """train_mask, val_mask and test_mask in the order of the rows. Without a word for it, a node is in no part."""
    lower = _lower(array)
    known = pa.array([word for words in PART_WORDS.values() for word in words] + list(NO_PART))
    odd = np.asarray(pc.is_in(lower, value_set=known).fill_null(True)) | np.asarray(lower.is_null())
    if not odd.all():
        raise table.bad_cell(int((~odd).argmax()), column, "split", "train, val or test (empty: none of them)")
    return {
        f"{part}_mask": torch.from_numpy(np.array(pc.is_in(lower, value_set=pa.array(words)).fill_null(False), dtype=bool))
        for part, words in PART_WORDS.items()
    }


def times_of(table: Table, column: int, array: Any) -> Tensor:
    """float64: numbers, or seconds since 1970; NaN for a gap."""
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if is_words(array):
        array = pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array)
        # The layout of most words, so that the sentence is about the one that differs.
        ways = [as_numbers(array), *(as_seconds(array, layout) for layout in LAYOUTS)]
        values, unread = min(ways, key=lambda way: way[1])
    else:
        values, unread = as_seconds(array, None) if pa.types.is_temporal(array.type) else as_numbers(array)
    if unread:
        bad = np.isnan(values) & np.asarray(array.is_valid())
        raise table.bad_cell(int(bad.argmax()), column, "time", "a number, a date or a time")
    return torch.from_numpy(np.array(values))


def groups_of(table: Table, column: int, array: Any) -> Tensor:
    """int64: a number for each group in the order of their names, -1 for a gap."""
    try:
        words = as_words(array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(table.label, f"column {table.names[column]!r}", "numbers or text", got=f"type {array.type}") from None
    words = pc.if_else(pc.equal(words, ""), pa.scalar(None, pa.string()), words)
    distinct = pc.unique(words.drop_null())
    distinct = distinct.take(pc.sort_indices(distinct))
    return torch.from_numpy(np.asarray(pc.index_in(words, value_set=distinct).fill_null(-1)).astype(np.int64))


def _all_parts(array: Any) -> bool:
    lower = pc.unique(_lower(array)).to_pylist()
    words = {word for words in PART_WORDS.values() for word in words}
    return any(word in words for word in lower) and all(word is None or word in words or word in NO_PART for word in lower)


def _lower(array: Any) -> Any:
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return pc.utf8_lower(pc.utf8_trim_whitespace(array.cast(pa.string())))

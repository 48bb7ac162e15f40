"""Features in a table: numbers become columns, words become categories if the user asks for that."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.columns import (
    LABEL_NAMES,
    all_numbers,
    find_id,
    find_label,
    header_by_force,
    looks_like_pandas_numbers,
    named,
    plain,
)
from chebnet2d.data.own_graph.csv_table import MISSING, CsvTable, is_number
from chebnet2d.data.own_graph.features import Block, Dense, Features, OneHot, Place, as_float32
from chebnet2d.data.own_graph.labels import Labels
from chebnet2d.data.own_graph.node_ids import encode, refuse_repeated
from chebnet2d.data.own_graph.table import Table, shown

_NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"


@dataclass(frozen=True)
class NodeTable:
    """``features`` has no blocks if the table has ids and labels alone; ``labels`` is ``None`` without a label column."""

    features: Features
    labels: Labels | None


def read_node_table(
    table: Table,
    *,
    node_id: str | None = None,
    label: str | None = None,
    label_elsewhere: bool = False,
    ignore: Sequence[str] = (),
    categorical: str = "error",
    header: bool | None = None,
    values: bool = True,
) -> NodeTable:
    """Ids, features and labels from one table.

    ``label_elsewhere``: a label column here would be one too many. ``values=False``: the features are not wanted.
    """
    if header_by_force(table, header, (node_id, None if label_elsewhere else label)) is None:
        _settle_header(table)
    left_out = [named(table, "ignore", name) for name in ignore if values or name in table.names]
    ids = named(table, "node_id", node_id) if node_id is not None else find_id(table) if table.has_header else None
    labels = _label_column(table, label, label_elsewhere, left_out)
    if labels is not None and labels == ids:
        raise InputError(str(table.label), "node_id and label", "two columns", got=f"{table.names[labels]!r} for both")
    wanted = [i for i in range(table.width) if i not in (ids, labels, *left_out)] if values else []
    return node_table_at(table, ids, labels, wanted, categorical)


def node_table_at(table: Table, ids: int | None, labels: int | None, values: Sequence[int], categorical: str) -> NodeTable:
    """The same, with the columns given by position."""
    text = [i for i in (ids, labels) if i is not None]
    wanted = [*text, *values]
    arrays = dict(zip(wanted, table.read(wanted, text=text), strict=True)) if wanted else {}
    rows = len(arrays[wanted[0]]) if wanted else 0
    id_column = None
    if ids is not None:
        id_column = encode(table, (ids,), (arrays[ids],), "id")
        refuse_repeated(id_column)
    blocks: list[Block] = []
    names: list[str] = []
    for group in _groups(values, arrays):
        block, block_names = _block(table, group, arrays, categorical)
        blocks.append(block)
        names += block_names
    features = Features(table.label, rows, blocks, ids=id_column, names=names if table.has_header else None)
    found = None if labels is None else Labels(table, labels, arrays[labels], ids=id_column, rows=rows)
    return NodeTable(features, found)


def _settle_header(table: Table) -> None:
    assert isinstance(table, CsvTable)
    first = table.head[0]
    table.use_header(True)
    if find_id(table) is not None or any(plain(name) in LABEL_NAMES for name in table.names):
        return
    if looks_like_pandas_numbers(first) or not any(is_number(field) for field in first):
        return
    if all_numbers(first):
        table.use_header(False)
        return
    raise InputError(
        f"{table.label}, line 1",
        "a header",
        "told from a row",
        got=f"words and numbers: {shown(table.delimiter.join(first))}",
        hint="Say by {} whether there is one; name the id column by {}, by its position ('0') if there is no header.",
        mentions=("header", "node_id"),
    )


def _label_column(table: Table, label: str | None, elsewhere: bool, left_out: Sequence[int]) -> int | None:
    if label is not None and (not elsewhere or label in table.names):
        found: int | None = named(table, "label", label)
    else:
        found = find_label(table) if table.has_header else None
    if found is None or found in left_out:
        return None
    if elsewhere:
        raise InputError(
            str(table.label),
            "labels",
            "from one place",
            got=f"the column {table.names[found]!r} beside a labels file",
            hint=f"Leave the column out by ignore=[{table.names[found]!r}], or do without the file.",
            verb="come",
        )
    return found


def _groups(columns: Sequence[int], arrays: dict[int, Any]) -> list[list[int]]:
    """Runs of numeric columns together, every other column alone."""
    groups: list[list[int]] = []
    for i in columns:
        if _is_numeric(arrays[i].type) and groups and _is_numeric(arrays[groups[-1][-1]].type):
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _is_numeric(kind: Any) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    )


def _block(table: Table, group: list[int], arrays: dict[int, Any], categorical: str) -> tuple[Block, list[str]]:
    def place(row: int, column: int) -> str:
        return f"{table.where(row)}: column {table.names[group[column]]!r}"

    kind = arrays[group[0]].type
    if _is_numeric(kind):
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
        raise InputError(str(table.label), f"column {table.names[column]!r}", "numbers or text", got=f"type {kind}", verb="hold")
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
    numeric = np.asarray(pc.match_substring_regex(array, _NUMBER).fill_null(False))
    present = np.asarray(array.is_valid())
    words = present & ~numeric
    if not words.any():  # numbers after all, written in a way that pyarrow does not read, or text in Parquet
        values = np.array([np.nan if text is None else float(text) for text in array.to_pylist()])[:, None]
        return Dense(as_float32(values, place), place), [name]
    if categorical == "error" or numeric.sum() > words.sum():
        row = int(words.argmax())
        mostly_numbers = numeric.sum() > words.sum()
        raise InputError(
            "",
            place(row, 0),
            "a number",
            got=shown(table.cell(row, column)),
            hint="Most of the column is numbers: correct the value, or leave it empty and choose 'zero' or 'mean' by {}."
            if mostly_numbers
            else "Encode a column of words as 'one-hot' by {}, leave it out by {}, or name it by {} or {} if it holds that.",
            mentions=("missing_features",) if mostly_numbers else ("categorical", "ignore", "node_id", "label"),
        )
    encoded = pa.chunked_array(array).combine_chunks().dictionary_encode()
    order = np.asarray(pc.sort_indices(encoded.dictionary))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    codes = np.full(len(array), -1, dtype=np.int64)
    codes[present] = rank[np.asarray(encoded.indices.drop_null())]
    categories = encoded.dictionary.take(pa.array(order)).to_pylist()
    return OneHot(codes, categories, place), [f"{name}={category}" for category in categories]


def _vectors(table: Table, column: int, array: Any, place: Place) -> tuple[Block, list[str]]:
    """A column of lists of equal length, as embeddings are stored in Parquet. A row without a list is missing."""
    name = table.names[column]
    lengths = np.asarray(pc.list_value_length(array).fill_null(-1))
    lengths_present = lengths[lengths >= 0]
    width = int(lengths_present[0]) if len(lengths_present) else 0
    bad = (lengths >= 0) & (lengths != width)
    if bad.any():
        row = int(bad.argmax())
        raise InputError("", place(row, 0), f"lists of {width} numbers as the first row", got=str(lengths[row]), verb="hold")
    flat = pc.list_flatten(array)
    if not _is_numeric(flat.type):
        raise InputError(str(table.label), f"column {name!r}", "lists of numbers", got=f"type {array.type}", verb="hold")

    def place_in_list(row: int, entry: int) -> str:
        return f"{place(row, 0)}, entry {entry}"

    values = np.full((len(array), width), np.nan)
    values[lengths >= 0] = _numbers(flat).reshape(-1, width)
    return Dense(as_float32(values, place_in_list), place_in_list), [f"{name}[{k}]" for k in range(width)]

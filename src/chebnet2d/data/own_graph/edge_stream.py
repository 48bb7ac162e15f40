"""Edges of a table in chunks, for files that fit no memory: ids are numbered while they are read, and the numbers go to disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.node_ids import IdColumns, encode
from chebnet2d.data.own_graph.table import Table
from chebnet2d.graph.disk_array import DiskArray
from chebnet2d.graph.listed_edges import ListedEdges


@dataclass(frozen=True)
class StreamedIds(IdColumns):
    """Every id once. ``firsts``: row and column (0 or 1) where each is first mentioned, as 2 row + column."""

    firsts: Any
    source: DiskArray
    target: DiskArray

    def first(self, flags: Any) -> tuple[int, int] | None:
        if not flags.any():
            return None
        row, k = divmod(int(self.firsts[flags].min()), 2)
        return row, self.columns[k]

    def edges(self, numbers: Any, num_nodes: int) -> ListedEdges:
        """``numbers``: the node of each id."""
        return ListedEdges(self.source, self.target, numbers, num_nodes)


def stream_ids(table: Table, columns: tuple[int, int]) -> StreamedIds:
    """As ``encode`` of the two columns, but in chunks: what is in memory are the different ids."""
    known: Any = None
    firsts, parts = np.zeros(0, dtype=np.int64), (DiskArray(np.int32), DiskArray(np.int32))
    row = 0
    for arrays in table.batches(columns):
        rows = len(arrays[0])
        found = encode(_RowsFrom(table, row), columns, [pa.chunked_array([array]) for array in arrays], "id")
        values = found.values
        if known is None:
            known = values.slice(0, 0)
        if known.type != values.type:  # integers beyond 64 bits: all ids are texts
            known, values = known.cast(pa.string()), values.cast(pa.string())
        place = pc.index_in(values, value_set=known)
        new = np.asarray(place.is_null())
        numbers = np.asarray(place.fill_null(0)).astype(np.int64)
        numbers[new] = len(known) + np.arange(int(new.sum()))
        if numbers.size and numbers.max() >= 2**31:
            raise InputError(table.label, "ids", "fewer than 2^31", got="more", verb="be")
        codes = numbers[found.codes].reshape(2, rows)
        places = np.full(len(values), 2 * rows, dtype=np.int64)
        np.minimum.at(places, found.codes.reshape(2, rows).T.reshape(-1), np.arange(2 * rows))
        firsts = np.concatenate([firsts, 2 * row + places[new]])
        known = pa.concat_arrays([known, values.filter(pa.array(new))])
        for part, own in zip(parts, codes, strict=True):
            part.append(own)
        row += rows
    known = pa.array([], pa.string()) if known is None else known
    return StreamedIds(table, columns, "id", np.arange(len(known)), known, firsts, *parts)


class _RowsFrom(Table):
    """A table without its first rows, for messages."""

    def __init__(self, table: Table, first: int) -> None:
        self.label, self._table, self._first = table.label, table, first

    def bad_cell(self, row: int, column: int, role: str, rule: str, hint: str = "", mentions: Sequence[str] = ()) -> InputError:
        return self._table.bad_cell(self._first + row, column, role, rule, hint, mentions)

    def called(self, column: int, role: str) -> str:
        return self._table.called(column, role)

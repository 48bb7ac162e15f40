"""Edges of a table in chunks, for files that fit no memory: ids are numbered while they are read, and the numbers go to disk."""

from collections.abc import Callable, Iterator, Sequence
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


class _Numbers:
    """Every id so far, in the order in which they were met: its place is its number."""

    def __init__(self) -> None:
        self.ids: Any = pa.array([], pa.string())

    def of(self, values: Any) -> tuple[Any, Any]:
        """Of ids that are each there once: their numbers, and flags of those that are new."""
        if not len(self.ids):
            self.ids = values.slice(0, 0)
        if self.ids.type != values.type:  # some chunks have integers alone: all ids are texts
            self.ids, values = self.ids.cast(pa.string()), values.cast(pa.string())
        place = pc.index_in(values, value_set=self.ids)
        new = np.asarray(place.is_null())
        numbers = np.asarray(place.fill_null(0)).astype(np.int64)
        numbers[new] = len(self.ids) + np.arange(int(new.sum()))
        self.ids = pa.concat_arrays([self.ids, values.filter(pa.array(new))])
        return numbers, new


def stream_ids(table: Table, columns: tuple[int, int]) -> StreamedIds:
    """As ``encode`` of the two columns, but in chunks: what is in memory are the different ids."""
    known = _Numbers()
    firsts, parts = np.zeros(0, dtype=np.int64), (DiskArray(np.int32), DiskArray(np.int32))
    row = 0
    # Looking up a chunk hashes all known ids once, so that it has to have about as many rows.
    for arrays in _joined(table.batches(columns), lambda: len(known.ids) // 2):
        rows = len(arrays[0])
        found = encode(_RowsFrom(table, row), columns, arrays, "id")
        numbers, new = known.of(found.values)
        if len(known.ids) >= 2**31:
            raise InputError(table.label, "ids", "fewer than 2^31", got="more", verb="be")
        codes = found.codes.reshape(2, rows)
        places = np.full(len(numbers), 2 * rows, dtype=np.int64)
        np.minimum.at(places, codes.T.reshape(-1), np.arange(2 * rows))
        firsts = np.concatenate([firsts, 2 * row + places[new]])
        for part, own in zip(parts, codes, strict=True):
            part.append(numbers[own])
        row += rows
    return StreamedIds(table, columns, "id", np.arange(len(known.ids)), known.ids, firsts, *parts)


def _joined(batches: Iterator[list[Any]], least: Callable[[], int]) -> Iterator[list[Any]]:
    """Batches of rows put together until there are ``least()`` rows, which is asked anew for each; the last may have fewer."""
    waiting: list[list[Any]] = []
    for batch in batches:
        waiting.append(batch)
        if sum(len(arrays[0]) for arrays in waiting) >= least():
            yield [pa.chunked_array(column) for column in zip(*waiting, strict=True)]
            waiting = []
    if waiting:
        yield [pa.chunked_array(column) for column in zip(*waiting, strict=True)]


class _RowsFrom(Table):
    """A table without its first rows, for messages."""

    def __init__(self, table: Table, first: int) -> None:
        self.label, self._table, self._first = table.label, table, first

    def bad_cell(self, row: int, column: int, role: str, rule: str, hint: str = "", mentions: Sequence[str] = ()) -> InputError:
        return self._table.bad_cell(self._first + row, column, role, rule, hint, mentions)

    def called(self, column: int, role: str) -> str:
        return self._table.called(column, role)

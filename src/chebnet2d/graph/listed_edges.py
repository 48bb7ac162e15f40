"""Edges as a file lists them, on disk, where they fit no memory: the ``edge_index`` of a graph that was read in chunks."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from chebnet2d.graph.adjacency import adjacency
from chebnet2d.graph.disk_array import DiskArray
from chebnet2d.graph.external_sort import DiskRows, sorted_rows

_CHUNK = 1 << 20  # edges at a time


class ListedEdges:
    """Pairs of codes on disk, and ``numbers``: the node that each code stands for. Edges have no weights."""

    def __init__(self, source: DiskArray, target: DiskArray, numbers: Any, num_nodes: int) -> None:
        self._source, self._target, self._numbers, self.num_nodes = source, target, numbers, num_nodes

    @property
    def shape(self) -> tuple[int, int]:
        """That of an ``edge_index``."""
        return 2, len(self._source)

    def chunks(self) -> Iterator[tuple[Any, Any]]:
        """Sources and targets as node numbers, in the order of the file."""
        for start in range(0, len(self._source), _CHUNK):
            stop = min(start + _CHUNK, len(self._source))
            yield self._numbers[self._source.read(start, stop)], self._numbers[self._target.read(start, stop)]

    @cached_property
    def rows(self) -> DiskRows:
        """Of the symmetric matrix, sorted once."""
        return sorted_rows(self)


def neighbour_counts(edge_index: Any, num_nodes: int) -> Any:
    """How many neighbours each node has, without itself."""
    if isinstance(edge_index, ListedEdges):
        return np.diff(edge_index.rows.starts)
    return np.diff(adjacency(edge_index, num_nodes=num_nodes).to_scipy().indptr)

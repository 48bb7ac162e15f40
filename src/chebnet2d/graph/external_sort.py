"""Edges on disk in any order become the rows of a symmetric matrix on disk: a sort by buckets of rows.

Each edge is written twice, once for either end, to the bucket of that row. Buckets are ranges of rows with about as many entries
each, so that one after the other is sorted in memory and appended to the result.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.graph.disk_array import DiskArray
from chebnet2d.graph.edge_pairs import MOST_NODES, distinct_pairs

BUCKET = 1 << 21
"""Entries of a bucket, about: some 100 MB while it is sorted. A row with more has a bucket of its own."""


class DiskRows(NamedTuple):
    """Both directions of every edge once, by row and then by column, without loops.

    ``starts``: of each row in ``columns``, N + 1 numbers. ``heavy``: ascending positions of the entries whose weight is not 1,
    and ``weights`` of them.
    """

    starts: Any
    columns: DiskArray
    heavy: DiskArray
    weights: DiskArray


class Pairs(Protocol):
    """Edges that are listed on disk."""

    num_nodes: int

    def chunks(self) -> Iterator[tuple[Any, Any]]:
        """Node numbers of sources and targets."""
        ...


def sorted_rows(edges: Pairs) -> DiskRows:
    """The weight of an edge is how often it is listed, in the direction in which that is more often."""
    nodes = edges.num_nodes
    if nodes > MOST_NODES:
        raise InputError("large_operator", "the graph", f"at most {MOST_NODES} nodes", got=str(nodes), verb="have")
    keys, starts, firsts = _in_buckets(edges)
    columns, heavy, weights = DiskArray(np.int32), DiskArray(np.int64), DiskArray(np.float64)
    degree = np.zeros(nodes, dtype=np.int64)
    for first, start, stop in zip(firsts, starts[:-1], starts[1:], strict=True):
        directed = keys.read(start, stop)
        directed.sort()
        pairs, repeated, counts = distinct_pairs(directed)
        row, column = np.divmod(pairs, nodes)
        heavy.append(repeated + len(columns))
        weights.append(counts)
        columns.append(column)
        if row.size:
            found = np.bincount(row - first)
            degree[first : first + found.size] += found
    return DiskRows(np.concatenate([[0], np.cumsum(degree)]), columns, heavy, weights)


def _in_buckets(edges: Pairs) -> tuple[DiskArray, Any, Any]:
    """2 (row N + column), and 1 more where the edge is listed towards the row; the ends of buckets, and the first row of each."""
    nodes = edges.num_nodes
    until = np.cumsum(_ends(edges))
    total = int(until[-1]) if nodes else 0
    # A bucket ends with the row in which it is full.
    number = np.searchsorted(np.arange(1, -(-total // BUCKET)) * BUCKET, until, side="right") if total else np.zeros(nodes, int)
    _, firsts = np.unique(number, return_index=True)
    starts = np.concatenate([[0], until[firsts[1:] - 1], [total]]).astype(np.int64)
    keys, filled = DiskArray(np.int64), starts[:-1].copy()
    for a, b in edges.chunks():
        other = a != b
        a, b = a[other].astype(np.int64), b[other].astype(np.int64)
        made = np.concatenate([2 * (a * nodes + b), 2 * (b * nodes + a) + 1])
        bucket = np.searchsorted(firsts, np.concatenate([a, b]), side="right") - 1
        made = made[np.argsort(bucket, kind="stable")]
        ends = np.cumsum(np.bincount(bucket, minlength=len(firsts)))
        for one in np.flatnonzero(np.diff(ends, prepend=0)):
            part = made[(ends[one - 1] if one else 0) : ends[one]]
            keys.write(int(filled[one]), part)
            filled[one] += part.size
    return keys, starts, firsts


def _ends(edges: Pairs) -> Any:
    """How often each node is an end of an edge that is no loop."""
    counts = np.zeros(edges.num_nodes, dtype=np.int64)
    for a, b in edges.chunks():
        other = a != b
        counts += np.bincount(a[other], minlength=counts.size) + np.bincount(b[other], minlength=counts.size)
    return counts

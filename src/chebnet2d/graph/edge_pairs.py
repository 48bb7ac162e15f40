"""A list of edges in any order becomes the rows of a symmetric matrix by two sorts of 8 bytes an edge."""

from typing import Any, NamedTuple

import numpy as np

_CHUNK = 1 << 22  # edges at a time, beside the sorts
MOST_NODES = 2**31 - 1  # so that twice a pair of nodes fits 64 bits


class SortedEdges(NamedTuple):
    """Both directions of every edge once, by row and then by column, without loops, in 32 bits.

    ``heavy``: positions of the entries whose weight is not 1, in both directions, and ``weights`` of them.
    """

    row: Any
    col: Any
    heavy: Any
    weights: Any


def sorted_edges(edge_index: Any, nodes: int) -> SortedEdges | None:
    """Of 2 x E node numbers. The weight of an edge is how often it is listed, in the direction in which that is more often.

    None where there are more nodes or entries than 32 bits count, or numbers that are no nodes.
    """
    if nodes > MOST_NODES or 2 * edge_index.shape[1] > MOST_NODES:
        return None
    if edge_index.size and (edge_index.min() < 0 or edge_index.max() >= nodes):
        return None
    directed = _directed_keys(edge_index, nodes)
    directed.sort()
    pairs, heavy, weights = distinct_pairs(directed)
    del directed
    low, high = _halves(pairs, nodes)
    mirrored = high.astype(np.int64) * nodes + low
    mirrored.sort()
    entries = np.bincount(low, minlength=nodes) + np.bincount(high, minlength=nodes)
    starts = np.concatenate([[0], np.cumsum(entries)])
    left = np.bincount(high, minlength=nodes)  # entries of a row that lie left of the diagonal
    row, col = (np.empty(2 * pairs.size, dtype=np.int32) for _ in range(2))
    above, below = starts[:-1] + left - _firsts(low, nodes), starts[:-1] - _firsts_of(left)
    for first in range(0, pairs.size, _CHUNK):
        part = slice(first, min(first + _CHUNK, pairs.size))
        number = np.arange(part.start, part.stop)
        place = above[low[part]] + number
        row[place], col[place] = low[part], high[part]
        own, other = np.divmod(mirrored[part], nodes)
        place = below[own] + number
        row[place], col[place] = own, other
    if heavy.size:
        at = np.searchsorted(mirrored, high[heavy].astype(np.int64) * nodes + low[heavy])
        heavy = np.concatenate([above[low[heavy]] + heavy, below[high[heavy]] + at])
        weights = np.concatenate([weights, weights])
    return SortedEdges(row, col, heavy, weights)


def _directed_keys(edge_index: Any, nodes: int) -> Any:
    """2 (low N + high), and 1 more where the edge is listed from the higher node; loops are left out."""
    source, target = edge_index
    keys = np.empty(source.size, dtype=np.int64)
    count = 0
    for first in range(0, source.size, _CHUNK):
        a, b = source[first : first + _CHUNK].astype(np.int64), target[first : first + _CHUNK].astype(np.int64)
        made = (2 * (np.minimum(a, b) * nodes + np.maximum(a, b)) + (a > b))[a != b]
        keys[count : count + made.size] = made
        count += made.size
    return keys[:count]


def distinct_pairs(directed: Any) -> tuple[Any, Any, Any]:
    """Pairs in order, and number and weight of those that are listed more than once in one direction."""
    new = np.ones(directed.size, dtype=bool)
    np.not_equal(directed[1:] >> 1, directed[:-1] >> 1, out=new[1:])
    pairs = directed[new] >> 1
    again = np.flatnonzero(directed[1:] == directed[:-1]) + 1
    if not again.size:
        return pairs, again, again.astype(np.float64)
    keys, counts = np.unique(directed[again], return_counts=True)  # of what is listed again: counted from 1
    numbers = np.searchsorted(pairs, keys >> 1)
    heavy, places = np.unique(numbers, return_inverse=True)
    weights = np.ones(heavy.size)
    np.maximum.at(weights, places, counts + 1.0)
    return pairs, heavy, weights


def _halves(pairs: Any, nodes: int) -> tuple[Any, Any]:
    low, high = (np.empty(pairs.size, dtype=np.int32) for _ in range(2))
    for first in range(0, pairs.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        low[part], high[part] = np.divmod(pairs[part], nodes)
    return low, high


def _firsts(low: Any, nodes: int) -> Any:
    """Of each node the number of the first pair of which it is the lower one."""
    return _firsts_of(np.bincount(low, minlength=nodes))


def _firsts_of(counts: Any) -> Any:
    return np.cumsum(counts) - counts

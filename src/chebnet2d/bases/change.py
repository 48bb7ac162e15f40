"""What differs between the graph that bases are of and another one, and how far that reaches.

Row r of p_d(M) X is made of the rows of M within d - 1 hops of r and the rows of X within d hops. So where no such row differs,
it is the stored one. Hops are those of the new graph: from a row that is as before, they lead to the same nodes as before.
"""

from typing import Any, NamedTuple

import numpy as np

from chebnet2d.bases.disk_operator import DiskOperator
from chebnet2d.bases.recurrence import some_rows
from chebnet2d.graph import SparseOperator


class Change(NamedTuple):
    """For each of the N new nodes: its number in the old graph, or -1; whether its row of M and that of X differ.

    ``gone``: how many old nodes are in the new graph no more.
    """

    old: Any
    other_edges: Any
    other_features: Any
    gone: int

    @property
    def changed(self) -> int:
        """Nodes that are new, or have another row of M or of X."""
        return int((self.other_edges | self.other_features).sum())


def change_between(old: Any, new: Any) -> Change | None:
    """By the marks of both graphs; None where two nodes of one have the same key."""
    order = np.argsort(old[:, 0])
    keys = old[order, 0]
    if (keys[1:] == keys[:-1]).any() or np.unique(new[:, 0]).size < len(new):
        return None
    place = np.searchsorted(keys, new[:, 0]).clip(max=len(keys) - 1)
    known = keys[place] == new[:, 0]
    number = order[place]
    same_edges, same_features = (known & (old[number, column] == new[:, column]) for column in (1, 2))
    return Change(np.where(known, number, -1), ~same_edges, ~same_features, len(keys) - int(known.sum()))


class Reach(NamedTuple):
    """``since``: the degree from which on the row of a node must be computed; degree + 1: never.

    ``rows``: nodes with such a degree; ``needed``: these and their neighbours. ``share``: of the products of all rows.
    """

    since: Any
    rows: Any
    needed: Any
    share: float


def reach_of(matrix: SparseOperator | DiskOperator, change: Change, stored: Any, degree: int, most: float) -> Reach | None:
    """Which rows must be computed. None, and no further search, where they are more than the share ``most`` of all work.

    Work is counted in entries of the operator, over all degrees.

    Args:
        stored: for each node, whether its old row is stored at all. One that is not is computed, and changes nothing around it.
    """
    starts = matrix.starts if isinstance(matrix, DiskOperator) else matrix.csr.crow_indices().numpy()
    sizes = np.diff(starts).astype(np.int64)
    total = max(1, degree * int(sizes.sum()))
    since = np.full(len(stored), degree + 1, dtype=np.int64)
    since[change.other_edges] = 1
    since[change.other_features] = 0
    since[change.old < 0] = 0
    for d in range(degree + 1):
        computed = np.where(stored, since, 0)
        share = float((sizes * (degree + 1 - computed.clip(min=1))).sum()) / total
        if share > most:
            return None
        if d < degree:  # neighbours of what differs at degree d differ at d + 1
            reached = neighbours(matrix, np.flatnonzero(since == d))
            since[reached] = np.minimum(since[reached], d + 1)
    rows = np.flatnonzero(computed <= degree)
    if rows.size == 0:
        rows = np.zeros(1, dtype=np.int64)  # a folder has a row
    return Reach(computed, rows, np.union1d(rows, neighbours(matrix, rows)), share)


def neighbours(matrix: SparseOperator | DiskOperator, nodes: Any) -> Any:
    """Of some nodes, each once, in ascending order."""
    found = np.zeros(matrix.shape[0], dtype=bool)
    for _, _, columns, _ in some_rows(matrix, nodes):
        found[columns.numpy()] = True
    return np.flatnonzero(found)

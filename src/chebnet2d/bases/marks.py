"""Marks of the nodes that bases are of: by them it is seen later which rows of the operator and of X another graph shares.

``marks.npy`` holds three numbers of 64 bits for each node of the graph, stored or not:

    key of its id | digest of its row of M | digest of its row of X

The digest of a row is the sum of the hashes of its entries other than 0, each of the entry's key and value: the key of the other
node's id in M, the number of the column in X. So the order of nodes does not matter, nor whether X is dense or sparse.
Two rows that differ have the same digest by an accident of probability 2^-64.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d.bases.arrays import BROKEN_ARRAY, map_array
from chebnet2d.bases.disk_operator import DiskOperator
from chebnet2d.bases.recurrence import operator_rows
from chebnet2d.graph import SparseOperator
from chebnet2d.graph.node_keys import mixed, node_keys

FILE = "marks.npy"
MARK_BYTES = 24
_CHUNK = 1 << 16  # entries at a time, which stay in the cache


def marks_of(matrix: SparseOperator | DiskOperator, features: Tensor | SparseOperator, ids: Any) -> Any:
    """N x 3 uint64. ``ids``: of the nodes; None: their numbers."""
    nodes = matrix.shape[0]
    marks = np.empty((nodes, 3), dtype=np.uint64)
    marks[:, 0] = keys = node_keys(np.arange(nodes) if ids is None else ids)
    for rows, offsets, columns, values in _slices(matrix):
        marks[rows, 1] = _row_sums(offsets, keys[columns], values)
    names = node_keys(np.arange(features.shape[1]))
    if isinstance(features, SparseOperator):
        for rows, offsets, columns, values in _slices(features):
            marks[rows, 2] = _row_sums(offsets, names[columns], values)
        return marks
    step = max(1, _CHUNK // features.shape[1])
    for start in range(0, nodes, step):
        part = features[start : start + step].detach().cpu().to(torch.float32).contiguous().numpy()
        marks[start : start + step, 2] = _hashes(names, part).sum(axis=1, dtype=np.uint64)
    return marks


def read_marks(folder: Path, nodes: int) -> Any:
    """The marks in a folder of bases; None where there are none, as in folders of earlier versions, or they are damaged."""
    try:
        found = map_array(folder / FILE)
    except BROKEN_ARRAY:
        return None
    return np.array(found) if found.shape == (nodes, 3) and found.dtype == np.uint64 else None


def _slices(matrix: SparseOperator | DiskOperator) -> Iterator[tuple[slice, Any, Any, Any]]:
    """Rows by slices of few entries: where each row begins, columns and values."""
    starts = matrix.starts if isinstance(matrix, DiskOperator) else matrix.csr.crow_indices().cpu().numpy()
    row, last = 0, matrix.shape[0]
    while row < last:
        stop = min(last, max(row + 1, int(np.searchsorted(starts, starts[row] + _CHUNK, side="right")) - 1))
        offsets, columns, values = (part.cpu().numpy() for part in operator_rows(matrix, row, stop))
        yield slice(row, stop), offsets, columns, values
        row = stop


def _row_sums(offsets: Any, keys: Any, values: Any) -> Any:
    """A number for each row. Differences of sums modulo 2^64 are those of the rows, the empty ones too."""
    total = np.zeros(len(keys) + 1, dtype=np.uint64)
    np.cumsum(_hashes(keys, values), out=total[1:])
    return np.diff(total[offsets])


def _hashes(keys: Any, values: Any) -> Any:
    """uint64; that of a 0 is 0, so that it may be stored or not."""
    bits = values.astype(np.float32, copy=False).view(np.uint32).astype(np.uint64)
    bits *= np.uint64(0xD6E8FEB86659FD93)  # odd, so that different values stay different
    bits ^= keys
    hashes = mixed(bits)
    hashes[values == 0] = 0
    return hashes

"""Operators of graphs with 10^8 edges: the same matrices as everywhere else, built in a fraction of the memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError, one_of
from chebnet2d.graph import Graph, SparseOperator, operator_of

OPERATORS = ("L_hat", "P", "P~")
_CHUNK = 1 << 22  # edges at a time: about 100 MB of temporaries


def large_operator(
    graph: Graph, num_nodes: int, kind: str = "L_hat", edge_weight: Tensor | None = None, *, dtype: torch.dtype = torch.float32
) -> SparseOperator:
    """L_hat, P or P~ of a graph, bit for bit what ``operator_of`` gives.

    An ``edge_index`` without weights that lists both directions of every edge once, sorted, without loops (as ``data.load``
    gives it) is turned into the operator in one pass: 8 bytes per entry for the result and little else. Any other graph is built
    by ``operator_of``, whose temporaries are several times the edge list.
    """
    one_of("large_operator", "kind", kind, OPERATORS)
    if isinstance(graph, SparseOperator):
        return graph
    if not isinstance(graph, Tensor):
        raise InputError("large_operator", "graph", "an edge_index, a torch sparse tensor or a SparseOperator", graph)
    plain = edge_weight is None and graph.layout == torch.strided and graph.dim() == 2 and graph.dtype == torch.int64
    if plain and graph.device.type == "cpu" and graph.shape[0] == 2 and _canonical(graph, num_nodes):
        return _from_sorted(graph.numpy(), num_nodes, kind, dtype)
    return operator_of(graph, edge_weight, torch.empty(num_nodes, 0, dtype=dtype), kind=kind, owner="large_operator")


def _chunks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, count)) for start in range(0, count, _CHUNK))


def _canonical(edge_index: Tensor, nodes: int) -> bool:
    """Whether the edges are sorted, each is listed once in both directions, and none is a loop."""
    row, col = edge_index.numpy()
    last = -1
    # The upper and the lower half hold the same pairs if the sums of a 64-bit hash of them agree. This needs no memory.
    upper, lower = 0, 0
    for part in _chunks(row.size):
        r, c = row[part], col[part]
        if min(r.min(), c.min()) < 0 or max(r.max(), c.max()) >= nodes or (r == c).any():
            return False
        key = r * nodes + c
        if key[0] <= last or (key[1:] <= key[:-1]).any():
            return False
        last = int(key[-1])
        above = r < c
        upper += int(_mix(key[above]).sum(dtype=np.uint64))
        below = ~above
        lower += int(_mix(c[below] * nodes + r[below]).sum(dtype=np.uint64))
    return (upper - lower) % 2**64 == 0


def _mix(key: Any) -> Any:
    """The finaliser of SplitMix64: every bit of the result depends on every bit of the key."""
    h = key.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def _from_sorted(edge_index: Any, nodes: int, kind: str, dtype: torch.dtype) -> SparseOperator:
    row, col = edge_index
    loops = 1 if kind == "P~" else 0
    degree = np.bincount(row, minlength=nodes) if row.size else np.zeros(nodes, dtype=np.int64)
    crow = np.zeros(nodes + 1, dtype=np.int32)
    np.cumsum(degree + loops, out=crow[1:])
    scale = np.zeros(nodes)
    np.divide(1.0, np.sqrt(degree + loops), out=scale, where=degree + loops > 0)
    columns = torch.empty(int(crow[-1]), dtype=torch.int32)
    values = torch.empty(int(crow[-1]), dtype=dtype)
    place, weight = columns.numpy(), values.numpy()
    sign = -1.0 if kind == "L_hat" else 1.0
    for part in _chunks(row.size):
        r, c = row[part], col[part]
        # With loops, row r begins r places later, and what lies right of the diagonal one more.
        where = np.arange(part.start, part.stop) + r + (c > r) if loops else part
        place[where] = c
        weight[where] = sign * (scale[r] * scale[c])
    if loops:
        before = np.zeros(nodes, dtype=np.int64)
        for part in _chunks(row.size):
            r, c = row[part], col[part]
            before += np.bincount(r[c < r], minlength=nodes)
        diagonal = crow[:-1] + before
        place[diagonal] = np.arange(nodes)
        weight[diagonal] = scale * scale
    csr = torch.sparse_csr_tensor(torch.from_numpy(crow), columns, values, size=(nodes, nodes), check_invariants=False)
    return SparseOperator(csr, symmetric=True)

"""Operators of graphs with 10^8 edges: the same matrices as everywhere else, built in a fraction of the memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import one_of
from chebnet2d.bases.disk_operator import DiskOperator
from chebnet2d.graph import Graph, SparseOperator, operator_of
from chebnet2d.graph.edge_pairs import SortedEdges, sorted_edges
from chebnet2d.graph.listed_edges import ListedEdges
from chebnet2d.graph.node_keys import mixed

OPERATORS = ("L_hat", "P", "P~")
_NONE = np.zeros(0, dtype=np.int64)
_CHUNK = 1 << 22  # edges at a time: about 100 MB of temporaries


def any_operator(data: Any, kind: str) -> SparseOperator | DiskOperator:
    """The operator of a ``Data``, in memory or, if that is where its edges are, on disk."""
    graph = data.edge_index
    if isinstance(graph, DiskOperator):
        return graph
    if isinstance(graph, ListedEdges):
        return DiskOperator(graph.rows, int(data.num_nodes), one_of("precompute", "operator", kind, OPERATORS))
    return large_operator(graph, int(data.num_nodes), kind, getattr(data, "edge_weight", None))


def large_operator(graph: Graph, num_nodes: int, kind: str = "L_hat", edge_weight: Tensor | None = None) -> SparseOperator:
    """L_hat, P or P~ (N x N) of a graph in float32, bit for bit what ``operator_of`` gives.

    An ``edge_index`` without weights that lists both directions of every edge once, sorted, without loops (as ``data.load``
    gives it) is turned into the operator in one pass: 8 bytes per entry for the result and little else. One in any other order is
    sorted first. What has weights is built by ``operator_of``, whose temporaries are several times the edge list.
    """
    one_of("large_operator", "kind", kind, OPERATORS)
    if isinstance(graph, Tensor) and edge_weight is None and _is_plain(graph):
        if _canonical(graph, num_nodes):
            row, col = graph.numpy()
            return _from_sorted(SortedEdges(row, col, _NONE, _NONE), num_nodes, kind)
        if (edges := sorted_edges(graph.numpy(), num_nodes)) is not None:
            return _from_sorted(edges, num_nodes, kind)
    return operator_of(graph, edge_weight, torch.empty(num_nodes, 0), kind=kind, owner="large_operator")


def give_up_edges(data: Any, kind: str) -> None:
    """Put the operator in the place of a graph's edges: their list is not needed any more, and may be larger."""
    data.edge_index = any_operator(data, kind)
    data.edge_weight = None


def _chunks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, count)) for start in range(0, count, _CHUNK))


def _is_plain(edge_index: Tensor) -> bool:
    """Whether it is an int64 list of edges on the CPU."""
    known = edge_index.layout == torch.strided and edge_index.device.type == "cpu" and edge_index.dtype == torch.int64
    return known and edge_index.dim() == 2 and edge_index.shape[0] == 2


def _canonical(edge_index: Tensor, nodes: int) -> bool:
    """Whether the edges are sorted, each once in both directions, without loops."""
    row, col = edge_index.numpy()
    # The upper and the lower half hold the same pairs if the sums of a 64-bit hash of them agree. This needs no memory.
    last, upper, lower = -1, 0, 0
    for part in _chunks(row.size):
        r, c = row[part], col[part]
        if min(r.min(), c.min()) < 0 or max(r.max(), c.max()) >= nodes or (r == c).any():
            return False
        key = r * nodes + c
        if key[0] <= last or (key[1:] <= key[:-1]).any():
            return False
        last = int(key[-1])
        above = r < c
        upper += int(mixed(key[above].view(np.uint64)).sum(dtype=np.uint64))
        below = ~above
        lower += int(mixed((c[below] * nodes + r[below]).view(np.uint64)).sum(dtype=np.uint64))
    return (upper - lower) % 2**64 == 0


def _from_sorted(edges: SortedEdges, nodes: int, kind: str) -> SparseOperator:
    row, col, heavy, weights = edges
    loops = 1 if kind == "P~" else 0
    degree = np.bincount(row, minlength=nodes)
    crow = np.zeros(nodes + 1, dtype=np.int32)
    np.cumsum(degree + loops, out=crow[1:])
    total = degree + loops + np.bincount(row[heavy], weights - 1, minlength=nodes)
    scale = np.zeros(nodes)
    np.divide(1.0, np.sqrt(total), out=scale, where=total > 0)
    columns = torch.empty(int(crow[-1]), dtype=torch.int32)
    values = torch.empty(int(crow[-1]), dtype=torch.float32)
    place, weight = columns.numpy(), values.numpy()
    sign = -1.0 if kind == "L_hat" else 1.0
    before = np.zeros(nodes, dtype=np.int64)  # entries of each row left of the diagonal
    for part in _chunks(row.size):
        r, c = row[part], col[part]
        # With loops, row r begins r places later, and what lies right of the diagonal one more.
        where = np.arange(part.start, part.stop) + r + (c > r) if loops else part
        place[where] = c
        weight[where] = sign * (scale[r] * scale[c])
        if loops:
            before += np.bincount(r[c < r], minlength=nodes)
    if heavy.size:
        r, c = row[heavy], col[heavy]
        weight[heavy + (r + (c > r) if loops else 0)] = sign * (weights * (scale[r] * scale[c]))
    if loops:
        diagonal = crow[:-1] + before
        place[diagonal] = np.arange(nodes)
        weight[diagonal] = scale * scale
    csr = torch.sparse_csr_tensor(torch.from_numpy(crow), columns, values, size=(nodes, nodes), check_invariants=False)
    return SparseOperator(csr, symmetric=True, kind=kind)

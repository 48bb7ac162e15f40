"""A cache of the operators of a graph, and of whatever else is derived from it, valid while the graph's tensors are unchanged."""

import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.graph.adjacency import adjacency
from chebnet2d.graph.laplacian import normalized_adjacency, row_stochastic_adjacency, shifted_laplacian
from chebnet2d.graph.sparse_operator import SparseOperator

Graph = Tensor | SparseOperator
"""What a layer takes as its graph: an ``edge_index``, a torch sparse adjacency matrix, or a ready operator."""

T = TypeVar("T")
_KINDS: dict[str, Callable[[SparseOperator, torch.dtype], SparseOperator]] = {
    "A": lambda a, dtype: a.to(dtype=dtype),
    "D~^-1 A~": lambda a, dtype: row_stochastic_adjacency(a, dtype=dtype),
    "L_hat": lambda a, dtype: shifted_laplacian(a, dtype=dtype),
    "P": lambda a, dtype: normalized_adjacency(a, dtype=dtype),
    "P~": lambda a, dtype: normalized_adjacency(a, add_self_loops=True, dtype=dtype),
}
# id of the graph -> (stamp, {(key, N): result}). The weak references in the stamp tell whether the tensors are still the same
# objects, their versions whether they have been written to.
_Stamp = tuple[tuple[Callable[[], Graph | None], int | None], ...]
_remembered: dict[int, tuple[_Stamp, dict[Hashable, Any]]] = {}


def operator_of(
    graph: Graph, edge_weight: Tensor | None, x: Tensor | SparseOperator, *, kind: str = "L_hat", owner: str
) -> SparseOperator:
    """The N x N operator ``kind`` of a graph, with the dtype and on the device of ``x``, which has N rows.

    Kinds: "L_hat", "P", "P~" (with self loops), "A" (the adjacency matrix itself), "D~^-1 A~" (rows sum to 1).

    A ``SparseOperator`` is returned as it is: it is the operator. For an ``edge_index`` (2 x E) or a torch sparse adjacency
    matrix (N x N) the operator is computed, and kept for the next call with the same tensors as long as nobody writes to them.
    (Writes through a numpy view of a tensor are not noticed.) ``owner`` is the class that errors name.
    """
    if isinstance(graph, SparseOperator):
        _check_matrix(graph, edge_weight, x.shape[0], owner)
        return graph.to(dtype=x.dtype, device=x.device)

    def build(a: SparseOperator) -> SparseOperator:
        return _KINDS[kind](a, x.dtype).to(device=x.device)

    return derived_operator(graph, edge_weight, x.shape[0], (kind, x.dtype, x.device), build, owner=owner)


def derived_operator(
    graph: Graph, edge_weight: Tensor | None, num_nodes: int, key: Hashable, build: Callable[[SparseOperator], T], *, owner: str
) -> T:
    """``build(A)``, with A the N x N adjacency matrix of the graph in float64; kept as ``operator_of`` keeps operators.

    ``key`` names what is built: results that differ need different keys. A ``SparseOperator`` is taken as A itself.
    """
    if not isinstance(graph, Tensor | SparseOperator):
        raise InputError(owner, "edge_index", "a tensor, a torch sparse tensor or a SparseOperator", graph)
    _check_matrix(graph, edge_weight, num_nodes, owner)

    def from_adjacency() -> T:
        if isinstance(graph, SparseOperator):
            return build(graph.to(dtype=torch.float64))
        if graph.layout == torch.strided:
            return build(adjacency(graph, edge_weight, num_nodes))
        coo = graph.detach().to_sparse_coo().coalesce()
        return build(adjacency(coo.indices(), coo.values(), num_nodes))

    return remembered(graph, (key, num_nodes), from_adjacency, edge_weight)


def remembered(holder: Graph, key: Hashable, build: Callable[[], T], second: Tensor | None = None) -> T:
    """``build()``, kept for the next call with the same key while ``holder`` and ``second`` are the same and unchanged."""
    entry = _remembered.get(id(holder))
    if entry is None or not _same(entry[0], holder, second):
        # The entry goes with the object: its id may be reused.
        name = id(holder)
        reference = weakref.ref(holder, lambda _: _remembered.pop(name, None))
        second_reference = (lambda: None) if second is None else weakref.ref(second)
        entry = _remembered[name] = ((reference, _version(holder)), (second_reference, _version(second))), {}
    results = entry[1]
    if key not in results:
        results[key] = build()
    return results[key]


def _same(stamp: _Stamp, *tensors: Graph | None) -> bool:
    pairs = zip(stamp, tensors, strict=True)
    return all(reference() is tensor and version == _version(tensor) for (reference, version), tensor in pairs)


def _version(tensor: Graph | None) -> int | None:
    """How often a tensor was written to; None if that is not counted, and -1 for no tensor (not: one that is gone)."""
    if tensor is None:
        return -1
    return None if not isinstance(tensor, Tensor) or tensor.is_inference() else tensor._version


def _check_matrix(graph: Graph, edge_weight: Tensor | None, num_nodes: int, owner: str) -> None:
    """A graph that is a matrix has its weights in it, and as many rows as there are nodes."""
    if isinstance(graph, Tensor) and graph.layout == torch.strided:
        return
    kind, name = ("a sparse tensor", "the sparse graph") if isinstance(graph, Tensor) else ("a SparseOperator", "the operator")
    if edge_weight is not None:
        raise InputError(owner, "edge_weight", f"None when the graph is {kind}, which has its own")
    if tuple(graph.shape) != (num_nodes, num_nodes):
        raise InputError(owner, name, f"{num_nodes} x {num_nodes}, as x has rows", got=str(tuple(graph.shape)))

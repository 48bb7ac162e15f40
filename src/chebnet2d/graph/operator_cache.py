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
_Stamp = tuple[weakref.ref[Graph], int | None, weakref.ref[Tensor] | None, int | None]
_remembered: dict[int, tuple[_Stamp, dict[Hashable, Any]]] = {}


def operator_of(
    graph: Graph, edge_weight: Tensor | None, x: Tensor | SparseOperator, *, kind: str = "L_hat", owner: str
) -> SparseOperator:
    """The N x N operator ``kind`` of a graph, with the dtype and on the device of ``x``, which has N rows.

    Kinds: "L_hat", "P", "P~" (with self loops), "A" (the adjacency matrix itself), "D~^-1 A~" (rows sum to 1).

    A ``SparseOperator`` is returned as it is: it is the operator. For an ``edge_index`` (2 x E) or a torch sparse adjacency
    matrix (N x N) the operator is computed, and kept for the next call with the same tensors as long as nobody writes to them.
    (Writes through a numpy view of a tensor are not noticed.)

    Args:
        owner: the class that errors name.
    """
    if isinstance(graph, SparseOperator):
        _check_operator(graph, edge_weight, x.shape[0], owner)
        return graph.to(dtype=x.dtype, device=x.device)
    key = (kind, x.dtype, x.device)
    return derived_operator(
        graph, edge_weight, x.shape[0], key, lambda a: _KINDS[kind](a, x.dtype).to(device=x.device), owner=owner
    )


def derived_operator(
    graph: Graph,
    edge_weight: Tensor | None,
    num_nodes: int,
    key: Hashable,
    build: Callable[[SparseOperator], T],
    *,
    owner: str,
) -> T:
    """``build(A)``, with A the N x N adjacency matrix of the graph in float64; kept as ``operator_of`` keeps operators.

    ``key`` names what is built: results that differ need different keys. A ``SparseOperator`` is taken as A itself.
    """
    if isinstance(graph, SparseOperator):
        _check_operator(graph, edge_weight, num_nodes, owner)
    elif not isinstance(graph, Tensor):
        raise InputError(owner, "edge_index", "a tensor, a torch sparse tensor or a SparseOperator", graph)

    def from_adjacency() -> T:
        if isinstance(graph, SparseOperator):
            return build(graph.to(dtype=torch.float64))
        return build(_adjacency_of(graph, edge_weight, num_nodes, owner))

    return remembered(graph, (key, num_nodes), from_adjacency, edge_weight)


def remembered(holder: Graph, key: Hashable, build: Callable[[], T], second: Tensor | None = None) -> T:
    """``build()``, kept for the next call with the same key while ``holder`` and ``second`` are the same and unchanged."""
    entry = _remembered.get(id(holder))
    if entry is None or not _same(entry[0], holder, second):
        # The entry goes with the object: its id may be reused.
        name = id(holder)
        reference = weakref.ref(holder, lambda _: _remembered.pop(name, None))
        second_reference = None if second is None else weakref.ref(second)
        stamp = (reference, _version(holder), second_reference, _version(second))
        entry = _remembered[name] = (stamp, {})
    results = entry[1]
    if key not in results:
        results[key] = build()
    result: T = results[key]
    return result


def _check_operator(operator: SparseOperator, edge_weight: Tensor | None, num_nodes: int, owner: str) -> None:
    if edge_weight is not None:
        raise InputError(owner, "edge_weight", "None when the graph is a SparseOperator, which has its own")
    if operator.shape != (num_nodes, num_nodes):
        raise InputError(owner, "the operator", f"{num_nodes} x {num_nodes}, as x has rows", got=str(operator.shape))


def _adjacency_of(graph: Tensor, edge_weight: Tensor | None, num_nodes: int, owner: str) -> SparseOperator:
    if graph.layout == torch.strided:
        return adjacency(graph, edge_weight, num_nodes)
    if edge_weight is not None:
        raise InputError(owner, "edge_weight", "None when the graph is a sparse tensor, which has its own")
    if tuple(graph.shape) != (num_nodes, num_nodes):
        raise InputError(owner, "the sparse graph", f"{num_nodes} x {num_nodes}, as x has rows", got=str(tuple(graph.shape)))
    coo = graph.detach().to_sparse_coo().coalesce()
    return adjacency(coo.indices(), coo.values(), num_nodes)


def _version(tensor: Graph | None) -> int | None:
    return None if not isinstance(tensor, Tensor) or tensor.is_inference() else tensor._version


def _same(stamp: _Stamp, graph: Graph, edge_weight: Tensor | None) -> bool:
    reference, version, weight_reference, weight_version = stamp
    remembered_weight = weight_reference() if weight_reference is not None else None
    return (
        reference() is graph
        and version == _version(graph)
        and remembered_weight is edge_weight
        and (weight_reference is None) == (edge_weight is None)
        and weight_version == _version(edge_weight)
    )

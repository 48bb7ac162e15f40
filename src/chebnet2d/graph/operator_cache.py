"""Remembers the operator of an ``edge_index`` while that very tensor is unchanged."""

import weakref
from typing import Any

import torch
from torch import Tensor

from chebnet2d._checks import InputError, fail
from chebnet2d.graph.adjacency import adjacency
from chebnet2d.graph.laplacian import normalized_adjacency, shifted_laplacian
from chebnet2d.graph.sparse_operator import SparseOperator

Graph = Tensor | SparseOperator
"""What a layer takes as its graph: an ``edge_index``, a torch sparse adjacency matrix, or a ready operator."""

_KINDS = {
    "L_hat": lambda a, dtype: shifted_laplacian(a, dtype=dtype),
    "P": lambda a, dtype: normalized_adjacency(a, dtype=dtype),
    "P~": lambda a, dtype: normalized_adjacency(a, add_self_loops=True, dtype=dtype),
}
# id of the graph tensor -> (stamp, {(kind, N, dtype, device): operator}). The weak references in the stamp say
# whether the tensors are still the same objects; their versions, whether somebody wrote into them since.
_remembered: dict[int, tuple[Any, dict[Any, SparseOperator]]] = {}


def operator_of(
    graph: Graph, edge_weight: Tensor | None, x: Tensor | SparseOperator, *, kind: str = "L_hat", owner: str
) -> SparseOperator:
    """The operator ``kind`` ("L_hat", "P" or "P~") of a graph, in the precision and on the device of ``x``.

    A ``SparseOperator`` is taken as it is: it is the operator. An ``edge_index`` or a torch sparse adjacency matrix
    is normalised, and the result is kept for the next call with the same, unwritten tensors. (Writes through a numpy
    view of a tensor are not seen.)
    """
    num_nodes = x.shape[0]
    if isinstance(graph, SparseOperator):
        if edge_weight is not None:
            raise InputError(f"{owner}: edge_weight must be None when the graph is a SparseOperator, which has its own.")
        if graph.shape != (num_nodes, num_nodes):
            raise InputError(f"{owner}: the operator must be {num_nodes} x {num_nodes}, as x has rows, got {graph.shape}.")
        return graph.to(dtype=x.dtype, device=x.device)
    if not isinstance(graph, Tensor):
        raise fail(owner, "edge_index", "a tensor, a torch sparse tensor or a SparseOperator", graph)

    entry = _remembered.get(id(graph))
    if entry is None or not _same(entry[0], graph, edge_weight):
        # When the tensor dies, so does its entry: the id may be given to another object.
        key = id(graph)
        reference = weakref.ref(graph, lambda _: _remembered.pop(key, None))
        weight_reference = None if edge_weight is None else weakref.ref(edge_weight)
        stamp = (reference, _version(graph), weight_reference, _version(edge_weight))
        entry = _remembered[key] = (stamp, {})
    operators = entry[1]
    wanted = (kind, num_nodes, x.dtype, x.device)
    if wanted not in operators:
        matrix = _adjacency_of(graph, edge_weight, num_nodes, owner)
        operators[wanted] = _KINDS[kind](matrix, x.dtype).to(device=x.device)
    return operators[wanted]


def _adjacency_of(graph: Tensor, edge_weight: Tensor | None, num_nodes: int, owner: str) -> SparseOperator:
    if graph.layout == torch.strided:
        return adjacency(graph, edge_weight, num_nodes)
    if edge_weight is not None:
        raise InputError(f"{owner}: edge_weight must be None when the graph is a sparse tensor, which has its own.")
    if tuple(graph.shape) != (num_nodes, num_nodes):
        raise InputError(f"{owner}: the sparse graph must be {num_nodes} x {num_nodes}, as x has rows, got {tuple(graph.shape)}.")
    coo = graph.detach().to_sparse_coo().coalesce()
    return adjacency(coo.indices(), coo.values(), num_nodes)


def _version(tensor: Tensor | None) -> int | None:
    return None if tensor is None or tensor.is_inference() else tensor._version


def _same(stamp: Any, graph: Tensor, edge_weight: Tensor | None) -> bool:
    reference, version, weight_reference, weight_version = stamp
    remembered_weight = weight_reference() if weight_reference is not None else None
    return (
        reference() is graph
        and version == _version(graph)
        and remembered_weight is edge_weight
        and (weight_reference is None) == (edge_weight is None)
        and weight_version == _version(edge_weight)
    )

"""A cache of the operators of a graph, and of whatever else is derived from it, valid while the graph's tensors are unchanged."""

import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

import numpy as np
import torch
import xxhash
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._stacks import is_wrapped, not_compiled, outside_transforms, unwrapped
from chebnet2d.graph.adjacency import adjacency
from chebnet2d.graph.laplacian import mean_adjacency, normalized_adjacency, row_stochastic_adjacency, shifted_laplacian
from chebnet2d.graph.sparse_operator import SparseOperator

Graph = Tensor | SparseOperator
"""What a layer takes as its graph: an ``edge_index``, a torch sparse adjacency matrix, or a ready operator."""

T = TypeVar("T")
G = TypeVar("G", bound=Graph | None)
_KINDS: dict[str, Callable[[SparseOperator, torch.dtype], SparseOperator]] = {
    "A": lambda a, dtype: a.to(dtype=dtype),
    "D^-1 A": lambda a, dtype: mean_adjacency(a, dtype=dtype),
    "D~^-1 A~": lambda a, dtype: row_stochastic_adjacency(a, dtype=dtype),
    "L_hat": lambda a, dtype: shifted_laplacian(a, dtype=dtype),
    "P": lambda a, dtype: normalized_adjacency(a, dtype=dtype),
    "P~": lambda a, dtype: normalized_adjacency(a, add_self_loops=True, dtype=dtype),
}
# How many second tensors (edge weights, say) are kept for each first one: alternating between a few rebuilds nothing.
_KEPT = 4


class _Seen:
    """A tensor as it was: the object, how often it had been written to, and perhaps a digest of its content.

    The counter misses writes through ``tensor.data`` and numpy views, and tensors of the inference mode have none: only the
    content tells. Its 128 bits are computed in every call, at the speed at which memory is read: less than half the time of a
    comparison with a copy, and no copy is held. A ready ``SparseOperator`` needs neither.
    """

    __slots__ = ("content", "reference", "version")

    def __init__(self, tensor: Graph | None, *, content: bool, gone: Callable[[Any], None] | None = None) -> None:
        self.reference = (lambda: None) if tensor is None else weakref.ref(tensor, gone)
        self.version = _version(tensor)
        self.content = _digest(tensor) if content else None

    def is_still(self, tensor: Graph | None, *, content: bool) -> bool:
        if self.reference() is not tensor or self.version != _version(tensor):
            return False
        return not content or self.content == _digest(tensor)

    def is_outdated(self, written: Graph | None) -> bool:
        """Whether the tensor is gone, or is ``written``, which has other content now."""
        tensor = self.reference()
        return self.version != _version(None) and (tensor is None or tensor is written)


# id of the first tensor -> as it was, and for the last few second tensors, the newest first, {(key, N): result}.
_remembered: dict[int, tuple[_Seen, list[tuple[_Seen, dict[Hashable, Any]]]]] = {}


def refuse_export(owner: str) -> None:
    """Raise under ``torch.export``, whose tensors have no numbers that scipy or scikit-learn could read."""
    if torch.compiler.is_exporting():
        hint = "Methods with one polynomial filter can be exported (docs/serving.md); for others use chebnet2d.load and predict."
        raise InputError(owner, "the graph", "given with its numbers, which torch.export does not do", hint=hint)


@not_compiled
def operator_of(
    graph: Graph,
    edge_weight: Tensor | None,
    x: Tensor | SparseOperator,
    *,
    kind: str = "L_hat",
    directed: str = "symmetrise",
    owner: str,
) -> SparseOperator:
    """The N x N operator ``kind`` of a graph, with the dtype and on the device of ``x``, which has N rows.

    Kinds: "L_hat", "P", "P~" (with self loops), "A" (the adjacency matrix itself), "D^-1 A" (means over neighbours),
    "D~^-1 A~" (rows sum to 1).

    A ``SparseOperator`` is returned as it is: it is the operator. For an ``edge_index`` (2 x E) or a torch sparse adjacency
    matrix (N x N) the operator is computed, and kept for the next call with the same tensors as long as their content is the
    same. ``directed``: what is done where the two directions of an edge differ, see ``adjacency``. Weights are constants here
    (``learnable_operator_of`` differentiates them). ``owner`` is the class that errors name.
    """
    if isinstance(graph, SparseOperator):
        check_matrix(graph, edge_weight, x.shape[0], owner)
        return graph.to(dtype=x.dtype, device=x.device)

    def build(a: SparseOperator) -> SparseOperator:
        made = _KINDS[kind](a, x.dtype).to(device=x.device)
        return SparseOperator(made.csr, symmetric=made.symmetric, kind=kind)  # of "A" it may be the user's own

    key = (kind, x.dtype, x.device)
    return derived_operator(graph, edge_weight, x.shape[0], key, build, directed=directed, owner=owner)


@not_compiled
def derived_operator(
    graph: Graph,
    edge_weight: Tensor | None,
    num_nodes: int,
    key: Hashable,
    build: Callable[[SparseOperator], T],
    *,
    directed: str = "symmetrise",
    owner: str,
) -> T:
    """``build(A)``, with A the N x N adjacency matrix of the graph in float64; kept as ``operator_of`` keeps operators.

    ``key`` names what is built: results that differ need different keys. A ``SparseOperator`` is taken as A itself.
    """
    refuse_export(owner)
    if not isinstance(graph, Tensor | SparseOperator):
        raise InputError(owner, "edge_index", "a tensor, a torch sparse tensor or a SparseOperator", graph)
    check_matrix(graph, edge_weight, num_nodes, owner)
    graph, edge_weight = _constant(graph, "edge_index", owner), _constant(edge_weight, "edge_weight", owner)

    def from_adjacency() -> T:
        if isinstance(graph, SparseOperator):
            return build(graph.to(dtype=torch.float64))
        if graph.layout == torch.strided:
            return build(
                adjacency(graph, edge_weight if edge_weight is None else edge_weight.detach(), num_nodes, directed=directed)
            )
        coo = graph.detach().to_sparse_coo().coalesce()
        return build(adjacency(coo.indices(), coo.values(), num_nodes, directed=directed))

    return remembered(graph, (key, num_nodes, directed), from_adjacency, edge_weight, content=isinstance(graph, Tensor))


@not_compiled
def remembered(holder: Graph, key: Hashable, build: Callable[[], T], second: Tensor | None = None, *, content: bool = False) -> T:
    """``build()``, kept for the next call with the same key while ``holder`` and ``second`` are the same and unchanged.

    ``holder`` and ``second`` have any shape: usually a graph and its E weights.
    Unchanged: not written to as torch counts it; with ``content``, a changed number is noticed however it was written.
    """
    with outside_transforms():  # what is kept must not belong to a torch.func transform, which ends
        name = id(holder)
        entry = _remembered.get(name)
        if entry is None or not entry[0].is_still(holder, content=content):
            # The entry goes with the object: its id may be reused.
            seen = _Seen(holder, content=content, gone=lambda _: _remembered.pop(name, None) and None)
            entry = _remembered[name] = seen, []
        kept = entry[1]
        for i, (seen, _) in enumerate(kept):
            if seen.is_still(second, content=content):
                kept.insert(0, kept.pop(i))
                break
        else:
            kept[:] = [pair for pair in kept if not pair[0].is_outdated(second)]
            kept.insert(0, (_Seen(second, content=content), {}))
            del kept[_KEPT:]
        results = kept[0][1]
        if key not in results:
            results[key] = build()
        return results[key]


def _constant(given: G, name: str, owner: str) -> G:
    """The plain tensor, unless a gradient would be lost."""
    if not isinstance(given, Tensor):
        return given
    plain = unwrapped(given)
    if is_wrapped(plain) and not plain.requires_grad:
        raise InputError(owner, name, "a plain tensor here, the same for the whole of a torch.func transform")
    if plain.requires_grad and torch.is_grad_enabled():
        hint = f"Pass {name}.detach(), or use a SpectralConv or ChebConv2D, which differentiate weights."
        raise InputError(owner, name, "require a gradient: weights are constants here", hint=hint, verb="not")
    return cast(G, plain)


def _digest(tensor: Graph | None) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
    """Equal for two tensors only if their numbers are, bit by bit: shape, strides and a hash of the memory of each part.

    One thread: two are no faster, since memory is what it waits for.
    """
    found = []
    for part in _parts(tensor):
        memory = part.T if part.flags.f_contiguous else np.ascontiguousarray(part)  # no copy but of a slice
        found.append((part.shape, part.strides, xxhash.xxh3_128_intdigest(memory.data)))
    return found


def _parts(tensor: Graph | None) -> list[np.ndarray[Any, Any]]:
    """The numbers of a tensor, as views of its memory where it is on the CPU."""
    if not isinstance(tensor, Tensor):
        return []
    tensor = tensor.detach()
    if tensor.layout == torch.strided:
        return [tensor.cpu().numpy()]
    if tensor.layout == torch.sparse_coo:
        return [part.cpu().numpy() for part in (tensor._indices(), tensor._values())]
    by_row = tensor.layout == torch.sparse_csr
    pointers = (tensor.crow_indices(), tensor.col_indices()) if by_row else (tensor.ccol_indices(), tensor.row_indices())
    return [part.cpu().numpy() for part in (*pointers, tensor.values())]


def _version(tensor: Graph | None) -> int | None:
    """How often a tensor was written to; None if that is not counted, and -1 for no tensor (not: one that is gone)."""
    if tensor is None:
        return -1
    return None if not isinstance(tensor, Tensor) or tensor.is_inference() else tensor._version


def check_matrix(graph: Graph, edge_weight: Tensor | None, num_nodes: int, owner: str) -> None:
    """A graph that is a matrix has its weights in it, and as many rows as there are nodes."""
    if isinstance(graph, Tensor) and graph.layout == torch.strided:
        return
    kind, name = ("a sparse tensor", "the sparse graph") if isinstance(graph, Tensor) else ("a SparseOperator", "the operator")
    if edge_weight is not None:
        raise InputError(owner, "edge_weight", f"None when the graph is {kind}, which has its own")
    if tuple(graph.shape) != (num_nodes, num_nodes):
        raise InputError(owner, name, f"{num_nodes} x {num_nodes}, as x has rows", got=str(tuple(graph.shape)))

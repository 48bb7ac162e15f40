"""Operators of a graph whose edge weights have a gradient: learned weights, attention, masks of an explanation."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._stacks import StackFunction, is_wrapped, not_compiled, unwrapped
from chebnet2d.graph.adjacency import adjacency
from chebnet2d.graph.operator_cache import Graph, check_matrix, operator_of, remembered
from chebnet2d.graph.sparse_operator import SparseOperator


@not_compiled
def learnable_operator_of(
    graph: Graph,
    edge_weight: Tensor | None,
    x: Tensor,
    *,
    kind: str = "L_hat",
    directed: str = "symmetrise",
    owner: str,
    mask: Tensor | None = None,
) -> "SparseOperator | LearnedOperator":
    """``operator_of``, but edge weights and the values of a sparse graph that require a gradient have one.

    Of weights with a gradient, ``directed`` looks at the places of edges alone. ``mask``: a number per edge, with or without a
    gradient, by which its messages are multiplied (``EdgePlaces.masked``).
    """
    if mask is not None and (isinstance(graph, SparseOperator) or graph.layout != torch.strided):
        raise InputError(owner, "edge_index", "2 x E integers where edges are masked, as an explainer does", graph)
    graph = unwrapped(graph) if isinstance(graph, Tensor) else graph
    edge_weight = None if edge_weight is None else unwrapped(edge_weight)
    if mask is None and not any(isinstance(t, Tensor) and (t.requires_grad or is_wrapped(t)) for t in (graph, edge_weight)):
        return operator_of(graph, edge_weight, x, kind=kind, directed=directed, owner=owner)
    if isinstance(graph, SparseOperator) or is_wrapped(graph):
        return operator_of(graph, edge_weight, x, kind=kind, directed=directed, owner=owner)  # which refuses
    check_matrix(graph, edge_weight, x.shape[0], owner)
    options: dict[str, Any] = {"loops": "~" in kind, "dtype": x.dtype, "directed": directed}
    if graph.layout == torch.strided:
        key = ("places", x.shape[0], *options.values(), x.device)
        make = lambda: EdgePlaces.of(graph.to(x.device), x.shape[0], **options)  # noqa: E731
        places = remembered(graph, key, make, content=True)
        weight = x.new_ones(graph.shape[1]) if edge_weight is None else checked_weight(edge_weight, graph.shape[1], owner)
    else:
        coo = graph.to_sparse_coo().coalesce()
        places = EdgePlaces.of(coo.indices().detach(), x.shape[0], **options)
        weight = checked_weight(coo.values(), coo.indices().shape[1], owner)
    weight = weight.to(x.device, x.dtype)
    operator = places.operator(weight, kind)
    return operator if mask is None else places.masked(operator, weight, mask.to(x.device, x.dtype))


@dataclass(frozen=True, eq=False)
class LearnedOperator:
    """A sparse N x N matrix with a gradient: nnz ``values`` in the places of ``pattern``, whose own values say nothing.

    ``operator @ x`` is differentiable in both, once.
    """

    pattern: SparseOperator
    values: Tensor
    symmetric: bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.pattern.shape

    def __matmul__(self, x: Tensor) -> Tensor:
        return self.pattern.weighted_product(self.values, x)


@dataclass(frozen=True, eq=False)
class EdgePlaces:
    """Where the edges of a list are in the symmetric matrix of their graph, without self loops or (``loops``) with all."""

    pattern: SparseOperator
    row: Tensor
    col: Tensor
    """nnz: the row and the column of each entry."""
    transposed: Tensor
    """nnz: the place of the entry (j, i) for each entry (i, j)."""
    place: Tensor
    """E: the entry of each edge (i, j), in row j as messages go from i to j; nnz for a self loop, which has none."""
    loops: Tensor | None = field(default=None)
    """nnz: 1 on the diagonal."""

    @classmethod
    def of(cls, edge_index: Tensor, num_nodes: int, *, loops: bool, dtype: torch.dtype, directed: str) -> "EdgePlaces":
        matrix = adjacency(edge_index, None, num_nodes, directed=directed).to_scipy()
        if loops:
            matrix = scipy.sparse.csr_array(matrix + scipy.sparse.eye_array(num_nodes))
        matrix.sort_indices()
        matrix.data[:] = 1.0
        row = np.repeat(np.arange(num_nodes), np.diff(matrix.indptr))
        source, target = edge_index.cpu().numpy().astype(np.int64)
        place = np.searchsorted(row * num_nodes + matrix.indices, target * num_nodes + source)
        place[source == target] = matrix.nnz
        pattern = SparseOperator.from_scipy(matrix, dtype=dtype, symmetric=True).to(device=edge_index.device)
        diagonal = torch.from_numpy((row == matrix.indices).astype(np.float64)).to(edge_index.device, dtype) if loops else None
        rows, places = (torch.from_numpy(part).to(edge_index.device) for part in (row, place))
        return cls(pattern, rows, pattern.csr.col_indices(), pattern.transpose_order, places, diagonal)

    def sums(self, weight: Tensor) -> Tensor:
        """nnz: the weights of the edges at each entry, added up."""
        return weight.new_zeros(len(self.row) + 1).index_add(0, self.place, weight)[:-1]

    def operator(self, weight: Tensor, kind: str) -> LearnedOperator:
        """The operator ``kind`` of ``operator_of`` as a function of the weights: E numbers >= 0 of the dtype of the pattern."""
        a = _Larger.apply(self, self.sums(weight))
        if kind == "A":
            return LearnedOperator(self.pattern, a, symmetric=True)
        a = a if self.loops is None else a + self.loops
        if kind in ("D^-1 A", "D~^-1 A~"):
            degree = self.row_sums(a)
            alive = torch.where(degree > 0, degree, 1.0)
            return LearnedOperator(self.pattern, a / alive.index_select(-1, self.row), symmetric=False)
        p = _Normalized.apply(self, a)
        return LearnedOperator(self.pattern, -p if kind == "L_hat" else p, symmetric=True)

    def row_sums(self, entries: Tensor) -> Tensor:
        """nnz -> N, or R x nnz -> R x N: a product with ones, which unlike ``index_add`` uses all cores."""
        ones = entries.new_ones(*entries.shape[:-1], self.pattern.shape[0], 1)
        return self.pattern.weighted_product(entries, ones).squeeze(-1)

    def roots(self, entries: Tensor) -> tuple[Tensor, Tensor]:
        """D^-1/2 of the matrix with these entries, 0 for an empty row (N numbers), and d_i^-1/2 d_j^-1/2 for each entry (nnz)."""
        degree = self.row_sums(entries)
        roots = torch.where(degree > 0, torch.where(degree > 0, degree, 1.0).rsqrt(), 0.0)
        return roots, roots.index_select(-1, self.row) * roots.index_select(-1, self.col)

    def masked(self, operator: LearnedOperator, weight: Tensor, mask: Tensor) -> LearnedOperator:
        """``operator`` with the message of each edge times its number in ``mask`` (E), as torch_geometric's explainers ask for.

        Degrees are those of the whole graph. Edges that were merged share one message, by their weights; a direction that the
        list lacks has the mask of the other one. Self loops that the operator has added are not masked.
        """
        sums, kept = self.sums(weight), self.sums(weight * mask)
        share = kept / torch.where(sums > 0, sums, 1.0)
        share = torch.where(sums > 0, share, share.index_select(-1, self.transposed))
        share = share if self.loops is None else torch.where(self.loops > 0, 1.0, share)
        return LearnedOperator(self.pattern, operator.values * share, symmetric=False)


class _Larger(StackFunction):
    """The larger one of the entries (i, j) and (j, i), in both places.

    What autograd does with ``torch.maximum`` is a scatter; the places come in pairs, so that a gather is enough.
    """

    @staticmethod
    def forward(places: EdgePlaces, entries: Tensor) -> Tensor:
        return torch.maximum(entries, entries.index_select(-1, places.transposed))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (entries,) = ctx.saved_tensors
        transposed = ctx.operator.transposed
        ahead = (entries - entries.index_select(-1, transposed)).detach()
        own = torch.heaviside(ahead, ahead.new_tensor(0.5)) * grads[0]  # equal ones share the gradient
        return None, own + (grads[0] - own).index_select(-1, transposed)


class _Normalized(StackFunction):
    """D^-1/2 A D^-1/2 from the entries of A, which are symmetric; gradients take each of them as a number of its own."""

    @staticmethod
    def forward(places: EdgePlaces, entries: Tensor) -> Tensor:
        return entries * places.roots(entries)[1]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        (entries,) = ctx.saved_tensors
        places = ctx.operator
        roots, both = places.roots(entries)
        direct = grads[0] * both
        moved = direct * entries  # an entry (i, j) depends on the degrees of i and of j, each to the power -1/2
        of_degree = -0.5 * roots.square() * places.row_sums(moved + moved.index_select(-1, places.transposed))
        return None, direct + of_degree.index_select(-1, places.row)


def checked_weight(edge_weight: Tensor, edges: int, owner: str) -> Tensor:
    """E weights, from E or E x 1; inside of ``vmap`` their values cannot be looked at."""
    weight = edge_weight.squeeze(-1) if edge_weight.dim() == 2 and edge_weight.shape[1] == 1 else edge_weight
    if weight.shape != (edges,):
        rule = f"one number for each of the {edges} edges"
        raise InputError(owner, "edge_weight", rule, got=f"shape {tuple(edge_weight.shape)}", verb="have")
    if edges and not is_wrapped(weight):
        low, high = weight.detach().aminmax()
        if not (low >= 0 and high < torch.inf):
            raise InputError(owner, "edge_weight", "finite numbers >= 0", got=f"numbers from {low:g} to {high:g}")
    return weight

"""FavardGNN: an orthonormal basis that is learned, one for each channel."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import integer
from chebnet2d.conv import ParadigmIII, PolynomialConv
from chebnet2d.conv.polynomial_conv import Signal, checked_frequencies
from chebnet2d.graph import Graph, operator_of
from chebnet2d.kernels.chebyshev_filter import chebyshev_filter
from chebnet2d.models.optbasis import HiddenFilter
from chebnet2d.models.registry import register
from chebnet2d.polynomials import Apply, Chebyshev, chebyshev_nodes, coefficient_matrix, values

SMALLEST = 0.01


@dataclass(frozen=True)
class Favard:
    """p_k = ((x - shift_{k-1}) p_{k-1} - size_{k-1} p_{k-2}) / size_k, p_0 = 1 / size_0: orthonormal for some weight (Favard).

    ``shift`` and ``size``: (D + 1) x C numbers, size > 0. The last shift has no effect.
    """

    shift: Tensor
    size: Tensor
    name: ClassVar[str] = "favard"
    fixed: ClassVar[bool] = False

    def terms(self, apply: Apply, start: Tensor, degree: int) -> Iterator[Tensor]:
        before, current = torch.zeros_like(start), start / self.size[0]
        yield current
        for k in range(1, degree + 1):
            following = apply(current) - self.shift[k - 1] * current - self.size[k - 1] * before
            before, current = current, following / self.size[k]
            yield current


class FavardConv(PolynomialConv):
    """sum_k alpha_k p_k(P) x for each channel, with the channel's own learned basis.

    The recurrence runs on D + 1 numbers per channel, the values of the filter at the Chebyshev nodes, instead of N; the
    polynomial through them is the filter, and the fused operation applies it.
    """

    operator = "P"

    def __init__(self, in_channels: int, out_channels: int, degree: int) -> None:
        super().__init__()
        self.degree = integer("FavardGNN", "degree", degree, 0)
        self.paradigm = ParadigmIII(in_channels, out_channels, degree + 1)
        # The last shift would have no effect, so there is none.
        self.shift = nn.Parameter(torch.empty(degree, in_channels))
        self.size = nn.Parameter(torch.empty(degree + 1, in_channels))
        # In float64 whatever the module is in: this part is small, and what it rounds, the whole filter feels.
        self._nodes = chebyshev_nodes(degree).unsqueeze(1)
        self._interpolation = coefficient_matrix(degree, "interpolation")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        identity = torch.eye(self.degree + 1)[0]
        self.paradigm.reset_parameters("identity", identity)
        nn.init.zeros_(self.shift)
        nn.init.ones_(self.size)

    def forward(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        operator = operator_of(edge_index, edge_weight, x, kind=self.operator, owner="FavardGNN")
        return chebyshev_filter(operator, x, self._coefficients(x))

    def curves(self, frequencies: Tensor, signal: Signal | None = None) -> Tensor:
        known = checked_frequencies("FavardGNN", frequencies)
        return values(Chebyshev(), known, self.degree).T @ self._coefficients(known)

    def combine_terms(self, terms: Tensor, change: Tensor) -> Tensor:
        return torch.einsum("dc,bdc->bc", change @ self._coefficients(terms), terms)

    def _coefficients(self, x: Tensor) -> Tensor:
        """Of the Chebyshev polynomials, (D + 1) x C, where x is and in its precision."""
        basis = Favard(self.shift.double(), self.size.double().clamp(min=SMALLEST))
        nodes, interpolation = self._nodes.to(x.device), self._interpolation.to(x.device)
        at_nodes = basis.terms(lambda v: nodes * v, torch.ones_like(nodes), self.degree)
        response = self.paradigm.combine(torch.stack(list(at_nodes)))
        return (interpolation @ response).to(x.dtype)


@register("favardgnn")
class FavardGNN(HiddenFilter):
    """A filter in a learned orthonormal basis: by Favard's theorem, any three-term recurrence gives one (Guo, Wei 2023).

    Args:
        degree: K.
        dropout: before both linear layers. filter_dropout: before the filter.
        variant: "faithful", or "unified": the MLP to C logits, then the filter on them.

    Optimiser groups: "filter" (alpha) and "basis" (shift and size).
    """

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"filter": ("conv.paradigm.",), "basis": ("conv.shift", "conv.size")}

    @staticmethod
    def convolution(in_channels: int, out_channels: int, degree: int = 10) -> FavardConv:
        return FavardConv(in_channels, out_channels, degree)

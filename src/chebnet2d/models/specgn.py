"""Spec-GN: powers of an operator whose spectrum is spread, one filter per channel; and its Paradigm II re-implementation."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, integer, one_of, real
from chebnet2d.conv import ExactBuffers, ParadigmIII, SpectralConv
from chebnet2d.graph import Graph, SparseOperator, derived_operator, operator_of
from chebnet2d.graph.spectrum import LARGEST_EXACT
from chebnet2d.models.decoupled import Decoupled, Sizes
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features, GlorotLinear
from chebnet2d.polynomials import Monomial, to_chebyshev


class PowerFilter(ExactBuffers):
    """sum_k S^k (z * theta_k): by the powers themselves, or, where the spectrum of S lies in [-1, 1], by the fused operation."""

    change: Tensor

    def __init__(self, channels: int, degree: int) -> None:
        super().__init__()
        self.degree = integer("SpecGN", "degree", degree, 0)
        self.paradigm = ParadigmIII(channels, channels, degree + 1)
        self.register_exact("change", to_chebyshev(Monomial(), degree).T)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.xavier_normal_(self.paradigm.theta)

    def forward(self, z: Tensor, matrix: SparseOperator | Tensor, bounded: bool) -> Tensor:
        if bounded and isinstance(matrix, SparseOperator) and matrix.symmetric:
            return self.paradigm.polynomial(matrix, z, self.change)
        return self.paradigm.combine(torch.stack(list(Monomial().terms(lambda v: matrix @ v, z, self.degree))))


@register("specgn")
class SpecGN(Decoupled):
    """Correlation-free graph convolution in its node version (Yang et al. 2022).

    Args:
        degree: K.
        dropout: before the first map and before each filter (faithful), before each linear layer (unified).
        operator: "eps": S = D~^epsilon (A + I) D~^epsilon. "rho": S = U sign(l) |l|^epsilon U^T with the eigenpairs of A + I: an
            N x N matrix by eigendecomposition, for small graphs.
        epsilon: exponent; -0.5 makes "eps" the operator P~. The authors use 1/8 to 1/2 with "rho".
        num_layers: filters with a ReLU after each.
        variant: "faithful", or "unified" (Spec-GN* of the comparison of paradigms): MLP to C logits, then a shared polynomial of
            P~ and a C x C map.
    """

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"filter": ("conv.", "convs.")}
    maps_channels: ClassVar[bool] = True
    defaults: ClassVar[dict[str, Any]] = {"hidden_channels": 70, "dropout": 8e-4}

    def _build(
        self, sizes: Sizes, *, operator: str = "eps", epsilon: float = -0.5, num_layers: int = 1, **arguments: Any
    ) -> None:
        self.operator = one_of("SpecGN", "operator", operator, ("eps", "rho"))
        self.epsilon = real("SpecGN", "epsilon", epsilon)
        self.num_layers = integer("SpecGN", "num_layers", num_layers, 1)
        super()._build(sizes, **arguments)

    def _assemble_faithful(self, sizes: Sizes, dropout: float, filter_dropout: float, **options: Any) -> None:
        in_channels, hidden_channels, out_channels = sizes
        self.dropout = Dropout(dropout)
        self.opening = GlorotLinear(in_channels, hidden_channels)
        self.convs = nn.ModuleList(PowerFilter(hidden_channels, **options) for _ in range(self.num_layers))
        self.closing = GlorotLinear(hidden_channels, out_channels)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, degree: int = 5) -> SpectralConv:
        """Of the unified form."""
        return SpectralConv(in_channels, out_channels, degree, paradigm="II", basis="monomial", operator="P~")

    def _faithful(self, x: Features, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        z: Tensor = self.opening(x, self.dropout)
        matrix, bounded = self._operator(z, edge_index, edge_weight)
        for conv in self.convs:
            z = conv(self.dropout(z), matrix, bounded).relu()
        logits: Tensor = self.closing(z)
        return logits

    def _operator(self, z: Tensor, graph: Graph, edge_weight: Tensor | None) -> tuple[SparseOperator | Tensor, bool]:
        """S, and whether its spectrum is known to lie in [-1, 1]."""
        if self.operator == "eps" and self.epsilon == -0.5:
            return operator_of(graph, edge_weight, z, kind="P~", owner="SpecGN"), True
        key = ("SpecGN", self.operator, self.epsilon, z.dtype, z.device)
        build: Callable[[SparseOperator, float, Tensor], SparseOperator | Tensor]
        build = _spread_degrees if self.operator == "eps" else _spread_spectrum
        return derived_operator(graph, edge_weight, z.shape[0], key, lambda a: build(a, self.epsilon, z), owner="SpecGN"), False


def _spread_degrees(adjacency: SparseOperator, epsilon: float, like: Tensor) -> SparseOperator:
    """D~^e (A + I) D~^e."""
    matrix = scipy.sparse.csr_array(adjacency.to_scipy() + scipy.sparse.eye_array(adjacency.shape[0]))
    scale = scipy.sparse.diags_array(matrix.sum(axis=1) ** epsilon)
    return SparseOperator.from_scipy(scale @ matrix @ scale, dtype=like.dtype, symmetric=True).to(device=like.device)


def _spread_spectrum(adjacency: SparseOperator, epsilon: float, like: Tensor) -> Tensor:
    """U sign(l) |l|^e U^T of A + I, dense; eigenvalues of size 1e-6 or less count as 0."""
    rows = adjacency.shape[0]
    if rows > LARGEST_EXACT:
        got = f"'rho' with {rows}: it needs an N x N matrix"
        raise InputError("SpecGN", "operator", f"'eps' above {LARGEST_EXACT} nodes", got=got)
    eigenvalues, vectors = np.linalg.eigh(adjacency.to_scipy().toarray() + np.eye(rows))
    size = np.abs(eigenvalues)
    spread = np.zeros_like(size)
    np.power(size, epsilon, out=spread, where=size > 1e-6)
    return torch.from_numpy((vectors * (np.sign(eigenvalues) * spread)) @ vectors.T).to(like.device, like.dtype)

"""A filter without parameters: a given function of the operator, the same for all channels."""

from collections.abc import Callable, Sequence

import numpy as np
import scipy.fft
import torch
from torch import Tensor

from chebnet2d._checks import InputError, one_of
from chebnet2d.conv.polynomial_conv import PolynomialConv, Signal, checked_frequencies
from chebnet2d.graph import Graph, learnable_operator_of
from chebnet2d.kernels.chebyshev_filter import chebyshev_filter
from chebnet2d.polynomials import Basis, Chebyshev, get_basis, to_chebyshev, values

LARGEST_DEGREE = 4096


class FixedFilter(PolynomialConv):
    """Z = g(M) F for a polynomial g = sum_k c_k p_k and a symmetric operator M of the graph.

    The coefficients are a buffer, so that they may differ between the runs of a stack. ``FixedFilter.of_function`` takes any
    smooth function on [-1, 1] instead and cuts its Chebyshev series where the terms fall below rounding. With a rational g this
    is the product with the inverse of an N x N matrix, without forming that matrix.
    """

    weights: Tensor

    def __init__(
        self, coefficients: Sequence[float] | np.ndarray, *, basis: str | Basis = "monomial", operator: str = "P~"
    ) -> None:
        super().__init__()
        self.operator = one_of("FixedFilter", "operator", operator, ("L_hat", "P", "P~", "D~^-1 A~"))
        given = torch.as_tensor(np.asarray(coefficients, dtype=np.float64))
        if given.dim() != 1 or given.numel() == 0 or not bool(torch.isfinite(given).all()):
            raise InputError("FixedFilter", "coefficients", "finite numbers, one for each term", coefficients)
        self.degree = given.numel() - 1
        self.register_exact("weights", to_chebyshev(get_basis(basis), self.degree).T @ given)

    @classmethod
    def of_function(
        cls, g: Callable[[np.ndarray], np.ndarray], *, operator: str = "P~", tolerance: float = 1e-14
    ) -> "FixedFilter":
        """The filter g: its Chebyshev series without the last terms below ``tolerance`` times the largest."""
        degree = 15
        while degree < LARGEST_DEGREE:
            angles = (np.arange(degree + 1) + 0.5) * np.pi / (degree + 1)
            series = scipy.fft.dct(g(np.cos(angles)), type=2) / (degree + 1)
            series[0] /= 2
            kept = np.flatnonzero(np.abs(series) > tolerance * np.abs(series).max())
            if kept[-1] < degree * 3 // 4:
                return cls(series[: kept[-1] + 1], basis="chebyshev", operator=operator)
            degree = 2 * degree + 1
        raise InputError("FixedFilter.of_function", "g", "smooth on [-1, 1]; its Chebyshev series does not end")

    def forward(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        operator = learnable_operator_of(edge_index, edge_weight, x, kind=self.operator, owner="FixedFilter")
        return chebyshev_filter(operator, x, self.weights.unsqueeze(1))

    def curves(self, frequencies: Tensor, signal: Signal | None = None) -> Tensor:
        known = checked_frequencies("FixedFilter.curves", frequencies).to(self.weights.device)
        return values(Chebyshev(), known, self.degree).T.to(self.weights.dtype) @ self.weights

    def combine_terms(self, terms: Tensor, change: Tensor) -> Tensor:
        return torch.einsum("d,bdc->bc", change @ self.weights, terms)

    def extra_repr(self) -> str:
        return f"degree={self.degree}, operator={self.operator!r}"

"""What every convolution by a polynomial of one operator shares: it can as well be applied to terms that are at hand."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.conv.exact_buffers import ExactBuffers
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import Basis, Chebyshev

Signal = tuple[Tensor, SparseOperator]
"""N x C numbers, and the operator of the graph that they are on."""


def checked_frequencies(owner: str, frequencies: Tensor) -> Tensor:
    """In float64, if they are a vector of numbers in [-1, 1]."""
    frequencies = torch.as_tensor(frequencies)
    if frequencies.dim() != 1 or not frequencies.is_floating_point():
        raise InputError(owner, "frequencies", "a vector of numbers in [-1, 1]", frequencies)
    if not bool((frequencies.abs() <= 1 + 1e-6).all()):  # eigenvalues may leave [-1, 1] by rounding
        worst = frequencies[frequencies.abs().nan_to_num(torch.inf).argmax()].item()
        raise InputError(owner, "frequencies", "in [-1, 1]", got=f"{worst:g}")
    return frequencies.to(torch.float64)


class PolynomialConv(ExactBuffers):
    """Z = sum_k p_k(M) F W_k. A subclass sets ``basis`` (of the p_k), ``operator`` (the name of M) and ``degree``.

    ``forward(x, edge_index, edge_weight=None)`` computes the terms p_k(M) F from the graph. ``combine_terms`` takes terms of any
    stored basis, with the matrix of ``change_to``: so a convolution runs on bases on disk as it is.
    """

    basis: Basis = Chebyshev()
    operator: str
    degree: int

    def reset_parameters(self) -> None:
        """A filter without parameters has nothing to reset."""

    def curves(self, frequencies: Tensor, signal: Signal | None = None) -> Tensor:
        """The filters that differ, at n eigenvalues of the operator in [-1, 1]: n numbers if one filter serves all channels,
        n x C for one per channel, n x C x C' for one per pair of channels.

        ``signal``: (F, M), for a basis that depends on the signal; others do not look at it.
        """
        raise NotImplementedError

    def response(self, frequencies: Tensor, signal: Signal | None = None) -> Tensor:
        """What the convolution does at each frequency, the map between channels included. Shapes as ``curves`` has them."""
        return self.curves(frequencies, signal)

    def combine_terms(self, terms: Tensor, change: Tensor) -> Tensor:
        """sum_d P_d V_d, with V_d = sum_k change[d, k] W_k. terms: B x (D + 1) x C, rows of the stored P_d."""
        raise NotImplementedError

    def start_as_map(self, weight: Tensor) -> None:
        """Start as Z = F weight: the filter 1, then a C x C' map. Only convolutions that map between channels can."""
        raise NotImplementedError

    def to_chebyshev(self) -> Tensor:
        """(degree + 1) x (degree + 1), in float64: from the coefficients W_k to those of Chebyshev polynomials."""
        return torch.eye(self.degree + 1, dtype=torch.float64)

    def change_to(self, basis: str, parameters: Mapping[str, Any], operator: str, degree: int, *, owner: str) -> Tensor:
        """(degree + 1) x (self.degree + 1), in float64: from the coefficients W_k to those of the stored terms.

        P = -L_hat, and T_d(-x) = (-1)^d T_d(x): terms of the one serve the other with the signs of odd degrees changed. (So does
        the basis that is orthonormal for the signal.) Terms above the degree of this polynomial have the coefficient 0.
        """
        count, needed = self.degree + 1, f"{self.basis.name} of {self.operator}"
        mirror = {self.operator, operator} == {"L_hat", "P"}
        # A constant is the same polynomial of every operator.
        if self.degree > 0 and self.operator != operator and not mirror and operator != "given":
            raise InputError(owner, "the bases", f"of the operator {self.operator} for this method", got=str(operator))
        if self.degree > degree:
            raise InputError(owner, "the bases", f"of degree {self.degree} or more for this method", got=str(degree))
        signs = torch.tensor([-1.0 if mirror and d % 2 else 1.0 for d in range(count)], dtype=torch.float64)
        own = {name: float(value) for name, value in vars(self.basis).items()}
        if not self.basis.fixed or basis == "orthonormal":
            if basis != self.basis.name:
                raise InputError(owner, "the bases", f"{needed} for this method", got=str(basis))
            change = torch.diag(signs)
        elif basis == Chebyshev.name:
            change = signs[:, None] * self.to_chebyshev()
        elif (basis, dict(parameters)) == (self.basis.name, own) and not mirror:
            change = torch.eye(count, dtype=torch.float64)
        else:
            rule = f"{needed}, or Chebyshev ones, which serve every fixed basis"
            raise InputError(owner, "the bases", rule, got=f"{basis} {parameters or ''}")
        return torch.cat([change, change.new_zeros(degree - self.degree, count)])

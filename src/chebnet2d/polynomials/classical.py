"""The fixed bases, each given by its recurrence."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from chebnet2d._checks import InputError, real
from chebnet2d.polynomials.basis import Apply, ThreeTermBasis, register_basis


@register_basis
@dataclass(frozen=True)
class Chebyshev(ThreeTermBasis):
    """First kind: T_k(cos t) = cos(k t)."""

    name: ClassVar[str] = "chebyshev"

    def step(self, k: int) -> tuple[float, float, float]:
        return (1.0, 0.0, 0.0) if k == 1 else (2.0, 0.0, -1.0)


@register_basis
@dataclass(frozen=True)
class Monomial(ThreeTermBasis):
    """x^k."""

    name: ClassVar[str] = "monomial"

    def step(self, k: int) -> tuple[float, float, float]:
        return 1.0, 0.0, 0.0


@register_basis
@dataclass(frozen=True)
class Legendre(ThreeTermBasis):
    """Orthogonal under the constant weight; P_k(1) = 1."""

    name: ClassVar[str] = "legendre"

    def step(self, k: int) -> tuple[float, float, float]:
        return (2 * k - 1) / k, 0.0, -(k - 1) / k


@register_basis
@dataclass(frozen=True)
class Jacobi(ThreeTermBasis):
    """Orthogonal under (1 - x)^a (1 + x)^b for a and b above -1; P_k(1) = binom(k + a, k).

    -1 itself is allowed, as tuned settings in the literature use it: the polynomials exist, but the weight is not integrable.
    """

    a: float = 1.0
    b: float = 1.0
    name: ClassVar[str] = "jacobi"

    def __post_init__(self) -> None:
        a, b = real("Jacobi", "a", self.a, -1), real("Jacobi", "b", self.b, -1)
        if a + b <= -2:
            raise InputError("Jacobi", "a and b", "both be -1, where the recurrence divides by zero", verb="not")

    def step(self, k: int) -> tuple[float, float, float]:
        a, b = self.a, self.b
        if k == 1:
            return (a + b + 2) / 2, (a - b) / 2, 0.0
        s = 2 * k + a + b
        scale = 2 * k * (k + a + b) * (s - 2)
        shift, previous = (s - 1) * (a * a - b * b) / scale, -2 * (k + a - 1) * (k + b - 1) * s / scale
        return (s - 1) * s * (s - 2) / scale, shift, previous


@register_basis
@dataclass(frozen=True)
class Bernstein:
    """binom(D, k) ((1 + x) / 2)^k ((1 - x) / 2)^(D - k): non-negative, with sum 1.

    In terms of the Laplacian's eigenvalue l = 1 + x this is binom(D, k) 2^-D l^k (2 - l)^(D - k). The family depends on D, so
    there is no recurrence in k. This direct form takes O(D^2) products; ``to_chebyshev`` leads to a fast one.
    """

    name: ClassVar[str] = "bernstein"
    fixed: ClassVar[bool] = True

    def terms(self, apply: Apply, start: Tensor, degree: int) -> Iterator[Tensor]:
        """As ``Basis.terms``: each of the shape of ``start``."""
        rising = start  # ((1 + M) / 2)^k start
        for k in range(degree + 1):
            term = rising
            for _ in range(degree - k):
                term = (term - apply(term)) / 2
            yield math.comb(degree, k) * term
            if k < degree:
                rising = (rising + apply(rising)) / 2

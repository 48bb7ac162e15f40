"""The interface of a polynomial basis, and what is computed from any basis.

A basis is defined by scalars and "apply an operator", without graphs and parameters: the same code evaluates it at numbers
(apply = multiply by x), at a matrix (apply = multiply by the matrix) and at the eigenvalues of the matrix.
"""

from collections.abc import Callable, Iterator
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

Apply = Callable[[Tensor], Tensor]
"""v -> M v, for v: N x C."""


@runtime_checkable
class Basis(Protocol):
    """p_0, p_1, ..., p_D on [-1, 1]."""

    name: ClassVar[str]
    fixed: ClassVar[bool]
    """True if the polynomials do not depend on the signal; only then can they be evaluated at a number."""

    def terms(self, apply: Apply, start: Tensor, degree: int) -> Iterator[Tensor]:
        """p_0(M) start, ..., p_degree(M) start, each of the shape of ``start``; ``apply`` multiplies by M."""
        ...


class ThreeTermBasis:
    """p_k = (a_k x + b_k) p_{k-1} + c_k p_{k-2}, with p_0 = 1 and p_{-1} = 0: the form of every classical orthogonal family."""

    name: ClassVar[str]
    fixed: ClassVar[bool] = True

    def step(self, k: int) -> tuple[float, float, float]:
        """(a_k, b_k, c_k) for k >= 1. c_1 is not used."""
        raise NotImplementedError

    def terms(self, apply: Apply, start: Tensor, degree: int) -> Iterator[Tensor]:
        before, current = start, start
        yield start
        for k in range(1, degree + 1):
            a, b, c = self.step(k)
            following = a * apply(current)
            if b != 0:
                following = following + b * current
            if k > 1 and c != 0:
                following = following + c * before
            before, current = current, following
            yield current


def values(basis: Basis, x: Tensor, degree: int) -> Tensor:
    """p_k(x) for k = 0, ..., degree: (degree + 1) x len(x)."""
    return torch.stack(list(basis.terms(lambda v: x * v, torch.ones_like(x), degree)))


def to_chebyshev(basis: Basis, degree: int) -> Tensor:
    """M with p_k = sum_d M[k, d] T_d: (D + 1) x (D + 1), in float64.

    Every polynomial of degree D is a combination of T_0..T_D, so one fast kernel for the Chebyshev recurrence serves all fixed
    bases; for Bernstein polynomials this turns O(D^2) products with the graph into D. The values at the D + 1 Chebyshev nodes
    determine the combination; by discrete orthogonality no linear system has to be solved.
    """
    k = np.arange(degree + 1)
    angles = (k + 0.5) * np.pi / (degree + 1)
    at_nodes = values(basis, torch.from_numpy(np.cos(angles)), degree).numpy()
    weights = 2.0 / (degree + 1) * np.cos(np.outer(angles, k))
    weights[:, 0] /= 2
    return torch.from_numpy(at_nodes @ weights)

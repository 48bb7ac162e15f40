"""The interface of a polynomial basis, the bases by name, and what is computed from any basis.

A basis is defined by scalars and "apply an operator", without graphs and parameters: the same code evaluates it at numbers
(apply = multiply by x), at a matrix (apply = multiply by the matrix) and at the eigenvalues of the matrix.
"""

from collections.abc import Callable, Iterator
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor

from chebnet2d._checks import InputError, one_of
from chebnet2d.polynomials.interpolation import chebyshev_nodes, coefficient_matrix

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
        """As ``Basis.terms``: each of the shape of ``start``."""
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


BASES: dict[str, type] = {}
"""Name -> class. Every class here can be built without arguments."""
B = TypeVar("B", bound=type[Basis])


def register_basis(basis: B) -> B:
    """A class decorator: the basis is then known by its ``name`` wherever a basis is asked for."""
    if not all(hasattr(basis, part) for part in ("name", "fixed", "terms")):
        raise InputError("register_basis", "basis", "name, fixed and terms, as polynomials.Basis says", basis, verb="have")
    if basis.name in BASES:
        raise InputError("register_basis", "name", "new", got=f"{basis.name!r}, which is {BASES[basis.name].__name__}")
    BASES[basis.name] = basis
    return basis


def get_basis(basis: str | Basis) -> Basis:
    """A basis by its name, or the object itself: ``get_basis("jacobi")``, ``get_basis(Jacobi(0.5, -0.5))``."""
    if isinstance(basis, str):
        return BASES[one_of("get_basis", "basis", basis, BASES)]()
    if not isinstance(basis, Basis):
        raise InputError("get_basis", "basis", "a name or a basis object", basis)
    return basis


def values(basis: Basis, x: Tensor, degree: int) -> Tensor:
    """p_k(x) for k = 0, ..., degree: (degree + 1) x len(x)."""
    return torch.stack(list(basis.terms(lambda v: x * v, torch.ones_like(x), degree)))


def to_chebyshev(basis: Basis, degree: int) -> Tensor:
    """M with p_k = sum_d M[k, d] T_d: (D + 1) x (D + 1), in float64.

    Every polynomial of degree D is a combination of T_0..T_D, so one fast kernel for the Chebyshev recurrence serves all fixed
    bases; for Bernstein polynomials this turns O(D^2) products with the graph into D. The values at the D + 1 Chebyshev nodes
    determine the combination; by discrete orthogonality no linear system has to be solved.
    """
    at_nodes = values(basis, chebyshev_nodes(degree), degree)
    return torch.from_numpy(at_nodes.numpy() @ coefficient_matrix(degree, "interpolation").T.contiguous().numpy())

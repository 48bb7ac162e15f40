"""Polynomial bases as small checked objects, one engine to run them, and Chebyshev interpolation."""

from chebnet2d._checks import InputError, one_of
from chebnet2d.polynomials.basis import Apply, Basis, ThreeTermBasis, to_chebyshev, values
from chebnet2d.polynomials.classical import Bernstein, Chebyshev, Jacobi, Legendre, Monomial
from chebnet2d.polynomials.interpolation import SCALINGS, chebyshev_nodes, coefficient_matrix
from chebnet2d.polynomials.orthonormal import SignalOrthonormal

BASES: dict[str, type] = {basis.name: basis for basis in (Chebyshev, Monomial, Legendre, Jacobi, Bernstein, SignalOrthonormal)}


def get_basis(basis: str | Basis) -> Basis:
    """A basis by its name, or the object itself: ``get_basis("jacobi")``, ``get_basis(Jacobi(0.5, -0.5))``."""
    if isinstance(basis, str):
        found: Basis = BASES[one_of("get_basis", "basis", basis, tuple(BASES))]()
        return found
    if not isinstance(basis, Basis):
        raise InputError("get_basis", "basis", "a name or a basis object", basis)
    return basis


__all__ = [
    "BASES",
    "SCALINGS",
    "Apply",
    "Basis",
    "Bernstein",
    "Chebyshev",
    "Jacobi",
    "Legendre",
    "Monomial",
    "SignalOrthonormal",
    "ThreeTermBasis",
    "chebyshev_nodes",
    "coefficient_matrix",
    "get_basis",
    "to_chebyshev",
    "values",
]

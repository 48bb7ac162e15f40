"""Polynomial bases as small checked objects, one engine that runs them, and Chebyshev interpolation.

A new basis is one file in this folder: a class with ``@register_basis`` above it. All modules here are imported below.
"""

from chebnet2d._registry import import_modules
from chebnet2d.polynomials.band_pass import band_pass_series
from chebnet2d.polynomials.basis import BASES, Apply, Basis, ThreeTermBasis, get_basis, register_basis, to_chebyshev, values
from chebnet2d.polynomials.classical import Bernstein, Chebyshev, Jacobi, Legendre, Monomial
from chebnet2d.polynomials.interpolation import SCALINGS, chebyshev_nodes, coefficient_matrix
from chebnet2d.polynomials.orthonormal import SignalOrthonormal

import_modules(__name__)

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
    "band_pass_series",
    "chebyshev_nodes",
    "coefficient_matrix",
    "get_basis",
    "register_basis",
    "to_chebyshev",
    "values",
]

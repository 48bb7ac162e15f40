"""Polynomial bases as small checked objects, one engine that runs them, and Chebyshev interpolation.

A new basis is one file in this folder: a class with ``@register_basis`` above it. All modules here are imported below.
"""

import importlib
import pkgutil

from chebnet2d.polynomials.basis import Apply, Basis, ThreeTermBasis, to_chebyshev, values
from chebnet2d.polynomials.classical import Bernstein, Chebyshev, Jacobi, Legendre, Monomial
from chebnet2d.polynomials.interpolation import SCALINGS, chebyshev_nodes, coefficient_matrix
from chebnet2d.polynomials.orthonormal import SignalOrthonormal
from chebnet2d.polynomials.registry import BASES, get_basis, register_basis

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

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
    "register_basis",
    "to_chebyshev",
    "values",
]

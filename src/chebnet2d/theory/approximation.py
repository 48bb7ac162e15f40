"""How fast a filter of degree D approximates a C x C response G on [-1, 1], by the smoothness of G.

Norms of matrices are spectral norms. u^T G v is a scalar function for unit vectors u and v, no rougher than G, and interpolation
is linear: what holds for scalars holds for G. Where a_k are the Chebyshev coefficients of G, interpolation at the nodes takes
T_k, k > D, for plus or minus a T_m with m <= D or for 0, so that its error is at most 2 sum_{k > D} |a_k|.
"""

import numpy as np
from numpy.polynomial import chebyshev

from chebnet2d._checks import integer, real
from chebnet2d.polynomials import chebyshev_nodes
from chebnet2d.theory.reduction import Array


def ellipse_bound(largest: float, rho: float, degree: int) -> float:
    """4 M rho^-D / (rho - 1): of the interpolant, for G analytic and at most M in the ellipse with foci -1, 1 and half axes that
    add up to rho.

    |a_k| <= 2 M rho^-k, by moving the contour of a_k = 1/(pi i) int G((w + 1/w)/2) w^(k - 1) dw from |w| = 1 to |w| = 1 / rho.
    """
    real("ellipse_bound", "rho", rho, 1.0)
    return 4 * largest * rho**-degree / (rho - 1)


def variation_bound(variation: float, degree: int) -> float:
    """4 V / (pi D): of the interpolant, for G with a derivative of total variation V.

    Integrating a_k = 2/pi int_0^pi G(cos t) cos kt dt by parts twice gives |a_k| <= 2 V / (pi k (k - 1)), a sum that telescopes.
    """
    return 4 * variation / (np.pi * integer("variation_bound", "degree", degree, 1))


def lebesgue_constant(degree: int) -> float:
    """The norm of interpolation at the D + 1 nodes: 1/(D+1) sum_b cot((2b + 1) pi / (4 (D + 1))), the value at x = 1.

    The interpolant of G is at most 1 + this times as far from G as the best polynomial of degree D.
    """
    count = integer("lebesgue_constant", "degree", degree, 0) + 1
    return float((1 / np.tan((2 * np.arange(count) + 1) * np.pi / (4 * count))).sum() / count)


def lebesgue_function(degree: int, places: Array) -> Array:
    """sum_b |l_b(x)|, with l_b the polynomial of degree D that is 1 at node b and 0 at the others."""
    terms = chebyshev.chebvander(chebyshev_nodes(degree).numpy(), degree)
    return np.abs(chebyshev.chebvander(places, degree) @ np.linalg.inv(terms)).sum(axis=1)


def interpolant(values: Array, places: Array) -> Array:
    """The polynomial of degree D with ``values`` (D + 1 x ...) at the Chebyshev nodes, at other places."""
    degree = len(values) - 1
    coefficients = np.linalg.solve(chebyshev.chebvander(chebyshev_nodes(degree).numpy(), degree), values.reshape(degree + 1, -1))
    return (chebyshev.chebvander(places, degree) @ coefficients).reshape(len(places), *values.shape[1:])

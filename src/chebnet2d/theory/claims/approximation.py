"""Approximation: the error of degree D against the smoothness of the response."""

from collections.abc import Iterator

import numpy as np
from numpy.polynomial import chebyshev
from scipy.optimize import linprog

from chebnet2d.polynomials import chebyshev_nodes
from chebnet2d.theory.approximation import (
    ellipse_bound,
    interpolant,
    lebesgue_constant,
    lebesgue_function,
    variation_bound,
)
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.reduction import Array

CHANNELS, KINK = 3, 0.3
POLES = (1.25, -1.4)
GRID = np.cos(np.linspace(0, np.pi, 2001))


def analytic(residues: Array, places: Array) -> Array:
    """sum_i A_i / (a_i - x), a pole beyond each end."""
    return np.einsum("xi,icj->xcj", 1 / (np.array(POLES) - places[:, None]), residues)


def kinked(map_: Array, places: Array) -> Array:
    """A |x - 0.3|: the derivative jumps by 2 A."""
    return np.abs(places - KINK)[:, None, None] * map_


def interpolation_error(response: Array, at_nodes: Array) -> float:
    """The largest spectral norm on the grid."""
    return float(np.linalg.norm(interpolant(at_nodes, GRID) - response, ord=2, axis=(1, 2)).max())


def errors(residues: Array, map_: Array, degrees: range) -> tuple[Array, Array]:
    """Of the analytic response and of the one with a kink, one per degree."""
    smooth, rough = analytic(residues, GRID), kinked(map_, GRID)
    pairs = []
    for degree in degrees:
        nodes = chebyshev_nodes(degree).numpy()
        pairs.append((interpolation_error(smooth, analytic(residues, nodes)), interpolation_error(rough, kinked(map_, nodes))))
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])


def smooth_bound(residues: Array, degree: int) -> float:
    """The ellipse bound with the rho that is best; |a - z| >= |a| - (rho + 1/rho)/2 in the ellipse."""
    nearest = min(map(abs, POLES))
    limits = np.linspace(1.01, nearest + np.sqrt(nearest**2 - 1) - 0.01, 60)
    sizes = np.linalg.norm(residues, ord=2, axis=(1, 2))
    largest = [(sizes / (np.abs(POLES) - (rho + 1 / rho) / 2)).sum() for rho in limits]
    return min(ellipse_bound(size, rho, degree) for size, rho in zip(largest, limits, strict=True))


def claims(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("approximation")
    residues, map_ = rng.standard_normal((2, CHANNELS, CHANNELS)), rng.standard_normal((CHANNELS, CHANNELS))
    degrees = range(1, 41)
    smooth, rough = errors(residues, map_, degrees)
    # Beyond 1e-13 rounding takes over.
    ratios = [e / smooth_bound(residues, d) for d, e in zip(degrees, smooth, strict=True) if e > 1e-13 * smooth[0]]
    yield line("approximation-ellipse", max(ratios), last=ratios[-1])
    size = float(np.linalg.norm(map_, ord=2))
    yield line("approximation-kink", max(e / variation_bound(2 * size, d) for d, e in zip(degrees, rough, strict=True)))
    yield line("approximation-kink-best", min(degree * best_error(degree) for degree in (10, 20, 40)))
    constants = np.array([lebesgue_constant(degree) for degree in range(65)])
    brute = np.array([lebesgue_function(degree, GRID).max() for degree in range(65)])
    yield line("approximation-lebesgue", float(np.abs(constants / brute - 1).max()), ten=constants[10])
    yield line("approximation-lebesgue-log", float((constants - 2 / np.pi * np.log(np.arange(65) + 1)).max()))
    yield line("approximation-graph", _on_a_graph(bench, residues, map_, rng))


def best_error(degree: int) -> float:
    """A lower bound of the distance of |x| from the polynomials of degree D: a linear program, on 401 points only."""
    places = np.cos(np.linspace(0, np.pi, 401))
    terms, ones = chebyshev.chebvander(places, degree), np.ones((401, 1))
    rows = np.concatenate([np.hstack([terms, -ones]), np.hstack([-terms, -ones])])
    limits = np.concatenate([np.abs(places), -np.abs(places)])
    found = linprog([0.0] * (degree + 1) + [1.0], A_ub=rows, b_ub=limits, bounds=[(None, None)] * (degree + 2))
    return float(found.fun)


def _on_a_graph(bench: Bench, residues: Array, map_: Array, rng: np.random.Generator) -> float:
    """||T_D(F) - T(F)||_F against the largest error of the response times ||F||_F, on the karate club."""
    eigenvalues = np.clip(bench.real.eigenvalues.numpy(), -1, 1)
    f = rng.standard_normal((34, CHANNELS))
    ratios = []
    for degree in (2, 5, 10):
        nodes = chebyshev_nodes(degree).numpy()
        for response, parameter in ((analytic, residues), (kinked, map_)):
            difference = interpolant(response(parameter, nodes), eigenvalues) - response(parameter, eigenvalues)
            largest = interpolation_error(response(parameter, GRID), response(parameter, nodes))
            ratios.append(np.linalg.norm(np.einsum("nc,ncj->nj", f, difference)) / (largest * np.linalg.norm(f)))
    return float(max(ratios))

"""What Adam makes of values at the nodes, against coefficients, on a planted problem.

The two parametrise the same filters, by a map that is a multiple of a rotation but for a factor sqrt 2 in the first coefficient.
Gradient descent hardly sees it. Adam scales each axis by itself, so axes matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from chebnet2d.polynomials import coefficient_matrix
from chebnet2d.theory.example_graphs import random_graph, spectrum_of_edges
from chebnet2d.theory.reduction import Array

TARGETS = ("smooth", "band")
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)


@dataclass(frozen=True)
class Planted:
    """terms: S x N x (D + 1) C, the filtered inputs T_d(L_hat) F of S problems side by side; outputs: S x N x C."""

    terms: Array
    outputs: Array
    degree: int
    channels: int


@dataclass(frozen=True)
class Training:
    """errors: ||output - target|| / ||target|| after each step (steps x rates x S)."""

    errors: Array
    rates: tuple[float, ...]

    def best(self, step: int) -> Array:
        """Errors after so many steps with the best rate of each problem: S."""
        return self.errors[step - 1].min(axis=0)


def planted(target: str, seeds: Sequence[int], nodes: int = 200, channels: int = 3, degree: int = 10) -> Planted:
    """Random graphs and inputs, and outputs of a planted filter of degree D for each pair of channels.

    "smooth": few first coefficients, 2^-d smaller each. "band": one value at one node, 0 at the others.
    """
    terms, outputs = [], []
    for seed in seeds:
        rng = np.random.default_rng([seed, TARGETS.index(target)])
        spectrum = spectrum_of_edges(random_graph(nodes, 8 / nodes, rng), nodes)
        f = rng.standard_normal((nodes, channels))
        powers = chebyshev.chebvander(np.clip(spectrum.eigenvalues.numpy(), -1, 1), degree)
        u = spectrum.eigenvectors.numpy()
        filtered = np.stack([u @ (powers[:, d, None] * (u.T @ f)) for d in range(degree + 1)], axis=1)
        maps = rng.standard_normal((degree + 1, channels, channels))
        if target == "smooth":
            maps *= 2.0 ** -np.arange(degree + 1)[:, None, None]
        else:
            places = rng.integers(degree + 1, size=(channels, channels))
            values = maps * (np.arange(degree + 1)[:, None, None] == places)
            maps = np.einsum("db,bcj->dcj", coefficient_matrix(degree, "interpolation").numpy(), values)
        terms.append(filtered.reshape(nodes, -1))
        outputs.append(terms[-1] @ maps.reshape(-1, channels))
    return Planted(np.stack(terms), np.stack(outputs), degree, channels)


def train(problem: Planted, scaling: str, *, steps: int = 500, rates: tuple[float, ...] = RATES) -> Training:
    """Adam with torch's defaults on the mean squared error, from the filter 1, for every rate and problem side by side.

    scaling: "interpolation" (values at the nodes) or "coefficients".
    """
    count, channels = problem.degree + 1, problem.channels
    change = coefficient_matrix(problem.degree, scaling).numpy()
    start = np.eye(channels) * (np.ones(count) if scaling == "interpolation" else np.arange(count) == 0)[:, None, None]
    gram = problem.terms.transpose(0, 2, 1) @ problem.terms / problem.terms.shape[1]
    slope = problem.terms.transpose(0, 2, 1) @ problem.outputs / problem.terms.shape[1]
    scale = (problem.outputs**2).sum(axis=(1, 2)) / problem.terms.shape[1]
    theta = np.broadcast_to(start, (len(rates), len(gram), *start.shape)).copy()
    lengths = np.array(rates).reshape(-1, 1, 1, 1, 1)
    first, second = np.zeros_like(theta), np.zeros_like(theta)
    errors = []
    for step in range(steps + 1):
        maps = np.einsum("db,rsbcj->rsdcj", change, theta).reshape(len(rates), len(gram), -1, channels)
        pushed = gram @ maps
        squares = ((maps * (pushed - 2 * slope)).sum(axis=(2, 3)) + scale) / scale
        errors.append(np.sqrt(np.maximum(squares, 0.0)))
        if step == steps:
            break
        gradient = np.einsum("db,rsdcj->rsbcj", change, (pushed - slope).reshape(theta.shape)) * (2 / channels)
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        theta -= lengths * (first / (1 - 0.9 ** (step + 1))) / (np.sqrt(second / (1 - 0.999 ** (step + 1))) + 1e-8)
    return Training(np.stack(errors[1:]), rates)

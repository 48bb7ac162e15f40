"""Values at the nodes or coefficients: one set of filters, two sets of axes."""

from collections.abc import Iterator

import numpy as np
from numpy.polynomial import chebyshev
from scipy.fft import dct

from chebnet2d.polynomials import coefficient_matrix
from chebnet2d.theory.adam import TARGETS, planted, train
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.reduction import Array

DEGREES = range(1, 65)
SEEDS = 5


def claims(bench: Bench) -> Iterator[Claim]:
    matrices = {degree: coefficient_matrix(degree, "interpolation").numpy() for degree in DEGREES}
    yield line("parametrisation-rotation", max(float(np.abs(m - _by_hand(d)).max()) for d, m in matrices.items()))
    yield line("parametrisation-condition", max(abs(float(np.linalg.cond(m)) - 2**0.5) for m in matrices.values()))
    equal = np.linalg.cond(chebyshev.chebvander(np.linspace(-1, 1, 21), 20))
    yield line("parametrisation-runge", float(equal), nodes=float(np.linalg.cond(matrices[20])))
    yield line("parametrisation-descent", _descent(bench.rng("descent")))
    seeds = [bench.seed * SEEDS + i for i in range(SEEDS)]
    for target in TARGETS:
        problem = planted(target, seeds)
        values, coefficients = (train(problem, scaling) for scaling in ("interpolation", "coefficients"))
        early, late = (tuple(float(np.median(run.best(step))) for run in (values, coefficients)) for step in (100, 500))
        yield line("parametrisation-adam-{target}", early[1] / early[0], target=target, early=early, late=late)
        slow = float(np.median(values.errors[-1, 0] / coefficients.errors[-1, 0]))
        yield line("parametrisation-rate-{target}", slow, target=target)


def _by_hand(degree: int) -> Array:
    """sqrt(2/(D+1)) diag(1/sqrt 2, 1, ...) times the orthonormal discrete cosine transform."""
    scale = np.full(degree + 1, np.sqrt(2 / (degree + 1)))
    scale[0] /= np.sqrt(2)
    return scale[:, None] * dct(np.eye(degree + 1), type=2, norm="ortho", axis=0)


def _descent(rng: np.random.Generator) -> float:
    """Gradient descent on values against gradient descent on coefficients with the step 2/(D+1), half of that for d = 0."""
    degree = 10
    change = coefficient_matrix(degree, "interpolation").numpy()
    terms, target = rng.standard_normal((40, degree + 1)) / 40**0.5, rng.standard_normal(40)
    steps = np.full(degree + 1, 2 / (degree + 1))
    steps[0] /= 2
    values, coefficients = np.zeros(degree + 1), np.zeros(degree + 1)
    for _ in range(200):
        values -= change.T @ terms.T @ (terms @ change @ values - target)
        coefficients -= steps * (terms.T @ (terms @ coefficients - target))
    return float(np.abs(change @ values - coefficients).max())

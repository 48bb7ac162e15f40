"""The fewest shared numbers that still reach every target.

A linear pattern with k numbers a row, W = sum_i t_i E_i, reaches every target if t -> f W is onto for all f != 0, which is to
say that (f, y) -> (f E_i y^T)_i, R^C x R^C -> R^k, is 0 only for f = 0 or y = 0: a nonsingular bilinear map.
"""

from collections.abc import Iterator

import numpy as np

from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench, Case, with_zeros, worst_error
from chebnet2d.theory.claims.irreducible import on_path, sign_patterns
from chebnet2d.theory.reduction import Array
from chebnet2d.theory.sharing import division

FEWEST = {2: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 8: 8, 16: 24}
"""Channels -> numbers a row with signs."""


def claims(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("fewest")
    cases = [on_path(sign_patterns(channels), rng) for channels in (2, 3, 4)]
    cases += [Case.drawn(bench.real, rng, channels, with_zeros) for channels in FEWEST]
    results, differences = [], []
    for case in cases:
        nodes, channels = case.f.shape
        labels, signs = division(nodes, channels, channels)
        results.append(case.construct_shared(labels, signs=signs))
        differences.append(abs(results[-1].num_parameters - nodes * FEWEST[channels]))
    yield line("fewest-division", worst_error(results))
    yield line("fewest-numbers", max(differences))
    yield line("fewest-odd", max(_singular_row(rng.standard_normal((c, c, c))) for c in (3, 5, 7) for _ in range(5)))
    arrays = plain_arrays(3, 4)
    yield line("fewest-plain", max(_zero_of(_pattern(array, 4), rng) for array in arrays), count=len(arrays))


def _singular_row(pattern: Array) -> float:
    """|det| over the largest, at a row f on the half circle from one vector to its negative, where det changes its sign."""
    first, second = np.eye(len(pattern))[:2]

    def determinant(angle: float) -> float:
        return float(np.linalg.det(np.einsum("c,icj->ij", np.cos(angle) * first + np.sin(angle) * second, pattern)))

    low, high = 0.0, np.pi
    scale = max(abs(determinant(angle)) for angle in np.linspace(low, high, 32))
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if determinant(middle) * determinant(0.0) > 0 else (low, middle)
    return abs(determinant(low)) / scale


def plain_arrays(channels: int, numbers: int) -> list[Array]:
    """Every way to share equal numbers that could do, up to their names: no number twice in a row or column of W, and no 2 x 2
    square [[a, b], [b, a]], all of which have f and y by hand (e_1, e_2 - e_3; e_1 + e_2, e_1 - e_2)."""
    array = np.full((channels, channels), -1)
    found: list[Array] = []

    def fill(place: int, used: int) -> None:
        if place == channels * channels:
            if used == numbers:
                found.append(array.copy())
            return
        i, j = divmod(place, channels)
        for number in range(min(used + 1, numbers)):
            square = ((array[:i, :j] == number) & (array[:i, j : j + 1] == array[i, :j])).any()
            if number not in array[i, :j] and number not in array[:i, j] and not square:
                array[i, j] = number
                fill(place + 1, max(used, number + 1))
        array[i, j] = -1

    fill(0, 0)
    return found


def _pattern(array: Array, numbers: int) -> Array:
    """E_i: where W has its i-th number."""
    return np.stack([(array == number).astype(float) for number in range(numbers)])


def _zero_of(pattern: Array, rng: np.random.Generator) -> float:
    """The smallest |(f E_i y^T)_i| that Gauss-Newton finds for |f| = |y| = 1 from up to 200 starts; it ends at the first zero."""
    best = np.inf
    for _ in range(200):
        f, y = (v / np.linalg.norm(v) for v in rng.standard_normal((2, pattern.shape[1])))
        for _ in range(40):
            value = np.einsum("c,icj,j->i", f, pattern, y)
            slopes = np.concatenate([np.einsum("icj,j->ic", pattern, y), np.einsum("c,icj->ij", f, pattern)], axis=1)
            step = np.linalg.lstsq(slopes, -value, rcond=1e-12)[0]
            f, y = (v / np.linalg.norm(v) for v in (f + step[: len(f)], y + step[len(f) :]))
        best = min(best, float(np.linalg.norm(np.einsum("c,icj,j->i", f, pattern, y))))
        if best < 1e-12:
            break
    return best

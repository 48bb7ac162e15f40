"""Lower bounds on the construction error that hold for all parameter values, by linear algebra alone.

Each is an inequality with a two-line proof, so a positive one certifies a failure; no optimiser is trusted. Notation as in
``reduction``: row m is reached through the r vectors f_m R_i P_m, and e is the error.

- **zero rows.** f_m = 0 gives 0 whatever the parameters: e^2 >= sum of |z_m|^2 over these rows.
- **parallel rows.** Rows whose f_m are multiples of one f have one P, and their outputs lie in the span of the r vectors
  f R_i P: a block of rank at most r. By Eckart-Young e^2 >= sum over the groups of the squares of the singular values of the
  block of Z^ P beyond the r-th. (For two rows, r = 1 and two zero columns of f this is the second singular value of a 2 x 2
  block.)
- **rank.** diag(q) F R has at most the rank of F, so r terms reach rank r rank(F), with Paradigm I (r + 1) rank(F). With
  Paradigm III the same holds for the columns in which all of the rows are zero. Eckart-Young again.
- **directions.** Let a = v_1 ^ ... ^ v_r be the exterior product of the vectors v_i = f_m R_i P_m. The distance of y = z_m P_m
  from their span is |a ^ y| / |a|, and a = A_m x is linear in the coefficients x of the polynomial map f -> f R_1 ^ ... ^ f R_r.
  With |A_m x| <= |A_m| |x|, e^2 >= min over |x| = 1 of sum_m |A_m x ^ y_m|^2 / |A_m|^2: a smallest singular value. Directions x
  that affect no row are left out. For r = 1 this is the linear system f_m R parallel to z_m, and its solution is the best first
  guess of the maps. Rows with a = 0 count as 0, which is no more than their distance. Maps with a = 0 in every row (R_1 = R_2,
  say) have no x of length 1, and are limits of maps that have one: the products f -> f R_1 ^ ... ^ f R_r span all x, so that a =
  0 in every row is an algebraic set of maps, and not all of them unless every A_m is 0. With the filters kept, the error is
  continuous in the maps: the bound holds for the limits too.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from chebnet2d.theory.reduction import Array, Indices, Mask, Reduced

LARGEST_LIFT = 400
"""Unknowns of the lifted problem up to which the bound by directions is computed."""


@dataclass(frozen=True)
class Bound:
    value: float
    reason: str


def lower_bounds(problem: Reduced, zero: float) -> list[Bound]:
    """All bounds that hold. The largest is the one to quote."""
    rows = ~problem.empty
    lost = float((problem.z[problem.empty] ** 2).sum())
    empty = f"{int(problem.empty.sum())} zero rows of F^" if lost > 0 else ""
    bounds = [Bound(lost**0.5, empty or "none")]
    words = f"smallest singular value of the lifted linear system of {problem.rank} terms"
    directions = (lifted(problem, rows, zero)[0], words)
    for squared, reason in (parallel_rows(problem, rows, zero), rank(problem, rows, zero), directions):
        if squared > 0:
            bounds.append(Bound((lost + squared) ** 0.5, f"{reason}; {empty}" if empty else reason))
    return bounds


def parallel_rows(problem: Reduced, rows: Mask, zero: float) -> tuple[float, str]:
    wanted, total, groups = problem.projected, 0.0, 0
    for group in _parallel_groups(problem.f, np.flatnonzero(rows), zero):
        tail = _tail(wanted[group], problem.rank)
        total, groups = total + tail, groups + (tail > 0)
    return total, f"singular values beyond the {problem.rank}. in {groups} groups of parallel rows of F^"


def rank(problem: Reduced, rows: Mask, zero: float) -> tuple[float, str]:
    if problem.base != "III":
        factor = problem.rank + (problem.base == "I")
        limit = factor * _rank(problem.f[rows], zero)
        return _tail(problem.z[rows], limit), f"rank of Z^ above {factor} rank(F^) = {limit}"
    best, reason = 0.0, ""
    absent = problem.f == 0
    for columns in {tuple(np.flatnonzero(mask)) for mask in absent[rows]}:
        if len(columns) < 2:
            continue
        inside = rows & absent[:, columns].all(axis=1)
        limit = problem.rank * _rank(problem.f[inside], zero)
        found = _tail(problem.z[inside][:, columns], limit)
        if found > best:
            best, reason = found, f"rank of the block of Z^ at {len(columns)} zero columns of F^ above {limit}"
    return best, reason


def first_guess(problem: Reduced, zero: float, seed: int, count: int) -> Array:
    """Maps to start a search from: S x r x C x C'.

    Exact where a bound is attained in closed form: R_i takes the main direction of F^ to the i-th one of Z^, which is the best
    approximation of rank r for F^ of rank 1; and for one term the maps that solve f_m R parallel to z_m best (``count`` random
    ones among them, where many do).
    """
    inputs, outputs = problem.f.shape[1], problem.z.shape[1]
    main = np.linalg.svd(problem.f, full_matrices=True)[2][0]
    wanted = np.resize(np.linalg.svd(problem.projected, full_matrices=True)[2], (problem.rank, outputs))
    guesses = np.einsum("a,ib->iab", main, wanted)[None]
    space = lifted(problem, ~problem.empty, zero)[1] if problem.rank == 1 else None
    if space is None:
        return guesses
    mixed = np.random.default_rng(seed).standard_normal((count, space.shape[1])) @ space.T
    return np.concatenate([guesses, mixed.reshape(count, 1, inputs, outputs)])


def lifted(problem: Reduced, rows: Mask, zero: float) -> tuple[float, Array | None, bool]:
    """The squared bound, the x (columns) whose value is within rounding of the smallest, and whether that is 0 up to rounding."""
    r, inputs, outputs = problem.rank, problem.f.shape[1], problem.z.shape[1]
    wanted = problem.projected
    used = rows & ((wanted * wanted).sum(axis=1) > (zero * np.abs(problem.z).max(initial=0.0)) ** 2)
    if r >= outputs or not used.any():
        return 0.0, None, False
    powers = list(itertools.combinations_with_replacement(range(inputs), r))
    wedges = list(itertools.combinations(range(outputs), r))
    if len(powers) * len(wedges) > LARGEST_LIFT:
        return 0.0, None, False
    f, y = problem.f[used], wanted[used]
    f = f / np.linalg.norm(f, axis=1, keepdims=True)  # a factor of f_m is a factor of q_m
    monomials = np.stack([f[:, power].prod(axis=1) for power in powers], axis=1)
    minors = _compound(problem.projections[used], wedges)
    lift = np.einsum("np,nvw->nwpv", monomials, minors).reshape(len(f), len(wedges), -1)
    stacked = lift.reshape(-1, lift.shape[2])
    _, sizes, right = np.linalg.svd(stacked, full_matrices=False)
    seen = sizes > 1e-10 * sizes[0] if sizes[0] > 0 else np.zeros_like(sizes, dtype=bool)
    if not seen.any():
        return 0.0, None, False
    best, space, exact = 0.0, None, False
    for basis in (right[seen].T, right[seen].T / sizes[seen]):  # orthonormal, and scaled so that A x has the length of x
        inside = lift @ basis
        norms = np.linalg.norm(inside, ord=2, axis=(1, 2))
        outside = _wedge(inside, y, wedges, outputs) / np.where(norms > 0, norms, 1.0)[:, None, None]
        _, values, vectors = np.linalg.svd(outside.reshape(-1, basis.shape[1]), full_matrices=True)
        values = np.concatenate([values, np.zeros(basis.shape[1] - len(values))])
        smallest = float(values[-1])
        if space is None:
            space = basis @ vectors[values <= smallest + 1e-9 * (values[0] + 1e-300)].T
            exact = smallest <= 1e-9 * values[0]
        if smallest > 1e-9 * values[0]:  # else it is rounding
            best = max(best, smallest**2)
    return best, space, exact


def _wedge(vectors: Array, y: Array, wedges: list[tuple[int, ...]], outputs: int) -> Array:
    """a ^ y for the columns a (in the basis ``wedges``) of vectors[n]: N x binom(C', r + 1) x k."""
    place = {wedge: i for i, wedge in enumerate(wedges)}
    larger = list(itertools.combinations(range(outputs), len(wedges[0]) + 1))
    result = np.zeros((len(vectors), len(larger), vectors.shape[2]))
    for row, indices in enumerate(larger):
        for j, column in enumerate(indices):
            rest = indices[:j] + indices[j + 1 :]
            sign = (-1.0) ** (len(indices) - 1 - j)  # column j moves to the end
            result[:, row] += sign * y[:, column, None] * vectors[:, place[rest]]
    return result


def _compound(matrices: Array, wedges: list[tuple[int, ...]]) -> Array:
    """All r x r minors: how a matrix acts on exterior products of rows."""
    result = np.empty((len(matrices), len(wedges), len(wedges)))
    for i, left in enumerate(wedges):
        for j, right in enumerate(wedges):
            result[:, i, j] = np.linalg.det(matrices[:, left][:, :, right])
    return result


def _parallel_groups(f: Array, rows: Indices, zero: float) -> list[Indices]:
    """Rows with an angle below ``zero``; groups of one row give no bound and are left out."""
    units = f[rows] / np.linalg.norm(f[rows], axis=1, keepdims=True)
    free = np.ones(len(rows), dtype=bool)
    groups = []
    for i in range(len(rows)):
        if not free[i]:
            continue
        # Sine, not cosine: 1 - cos of a small angle is lost in rounding.
        away = units - np.outer(units @ units[i], units[i])
        member = free & (np.linalg.norm(away, axis=1) <= zero * 10)
        free &= ~member
        if member.sum() > 1:
            groups.append(rows[member])
    return groups


def _tail(block: Array, rank: int) -> float:
    """The squares of the singular values beyond the first ``rank``; those within rounding of 0 count as 0."""
    values = np.linalg.svd(block, compute_uv=False)
    values = np.where(values > 1e-12 * values.max(initial=0.0), values, 0.0)
    return float((values[rank:] ** 2).sum())


def _rank(matrix: Array, zero: float) -> int:
    values = np.linalg.svd(matrix, compute_uv=False)
    return int((values > zero * max(matrix.shape) * values.max(initial=0.0)).sum())

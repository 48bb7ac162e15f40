"""The terms of Paradigm II: alternating between linear problems does not find the way out, so many Gauss-Newton runs do.

For given maps R_i the best filters q are linear least squares in every row, so they are eliminated (variable projection) and
only the r C C' numbers of the maps are searched, by Levenberg-Marquardt from many starts at once. The first start is the
solution of the lifted linear problem in ``bounds.directions``: for one term and a reachable target it is exact already.
"""

from dataclasses import dataclass

import numpy as np

from chebnet2d.theory.reduction import Array, Reduced

_BATCH_NUMBERS = 2**22  # entries of the Jacobians of one batch of starts: about 32 MB
_NOTHING = 1e-14


@dataclass(frozen=True)
class Found:
    """maps: r x C x C', filters: N x r, residual: the Frobenius norm that is left, starts: how many were tried."""

    maps: Array
    filters: Array
    residual: float
    starts: int


def solve(
    problem: Reduced,
    *,
    restarts: int,
    seed: int,
    accuracy: float,
    floor: float = 0.0,
    guesses: Array | None = None,
    steps: int = 200,
) -> Found:
    """The best of ``restarts`` starts; no further batch once one is within ``accuracy`` of ``floor``, a known lower bound.

    ``guesses``: S x r x C x C', the first S starts.
    """
    rng = np.random.default_rng(seed)
    inputs, outputs = problem.f.shape[1], problem.z.shape[1]
    # Rows that are zero or have nothing left to reach do not move the maps.
    wanted = problem.projected
    rows = np.flatnonzero(~problem.empty & ((wanted * wanted).sum(axis=1) > 0))
    f, y, projections = problem.f[rows], wanted[rows], problem.projections[rows]
    given = np.zeros((0, problem.rank, inputs, outputs)) if guesses is None else guesses
    size = max(1, rows.size * outputs * problem.rank * inputs * outputs)
    batch = int(min(16, max(1, _BATCH_NUMBERS // size)))
    best, best_error, tried = np.zeros((problem.rank, inputs, outputs)), np.inf, 0
    while tried < max(restarts, 1) and best_error > floor + accuracy:
        count = min(batch, max(restarts, 1) - tried)
        starts = rng.standard_normal((count, problem.rank, inputs, outputs))
        usable = min(count, max(0, len(given) - tried))
        starts[:usable] = given[tried : tried + usable]
        maps, errors = _descend(f, y, projections, starts, floor + 0.01 * accuracy, steps)
        winner = int(errors.argmin())
        if errors[winner] < best_error:
            best, best_error = maps[winner], float(errors[winner])
        tried += count
    best = _normalised(best)
    vectors = np.einsum("na,iab,nbc->nic", problem.f, best, problem.projections)
    filters = _filters(vectors[None], wanted)[0]
    rest = wanted - np.einsum("ni,nic->nc", filters, vectors)
    return Found(best, filters, float(np.linalg.norm(rest)), tried)


def _descend(f: Array, y: Array, projections: Array, maps: Array, target: float, steps: int) -> tuple[Array, Array]:
    """Levenberg-Marquardt on S starts side by side. Errors are Frobenius norms of what is left."""
    count, rank, inputs, outputs = maps.shape
    unknowns = rank * inputs * outputs
    maps = _normalised(maps)
    vectors, filters, rest = _evaluate(f, y, projections, maps)
    errors = np.linalg.norm(rest, axis=(1, 2))
    damping = np.full(count, 1e-3)
    stalled = np.zeros(count, dtype=int)
    for _ in range(steps):
        if errors.min() <= target:
            break
        active = np.flatnonzero(stalled < 4)
        if active.size == 0:
            break
        # Kaufman's Jacobian of the eliminated problem: -(I - projection on the vectors) d(vectors) q.
        tails = _complement(vectors[active], projections)
        jacobian = -np.einsum("sni,na,nsbc->snciab", filters[active], f, tails.transpose(1, 0, 2, 3), optimize=True)
        jacobian = jacobian.reshape(active.size, -1, unknowns)
        gradient = np.einsum("skp,sk->sp", jacobian, rest[active].reshape(active.size, -1), optimize=True)
        gram = jacobian.transpose(0, 2, 1) @ jacobian
        scale = np.trace(gram, axis1=1, axis2=2) / unknowns + 1e-300
        shifted = gram + (damping[active] * scale)[:, None, None] * np.eye(unknowns)
        step = -np.linalg.solve(shifted, gradient[:, :, None])[:, :, 0]
        trial = maps[active] + step.reshape(active.size, rank, inputs, outputs)
        new_vectors, new_filters, new_rest = _evaluate(f, y, projections, trial)
        new_errors = np.linalg.norm(new_rest, axis=(1, 2))
        better = new_errors < errors[active]
        # A run is over after a few steps in a row that gain next to nothing, or that fail although they are short.
        idle = np.where(better, errors[active] - new_errors <= 1e-9 * errors[active], damping[active] > 1e2)
        stalled[active] = np.where(better & ~idle, 0, stalled[active] + idle)
        damping[active] = np.where(better, np.maximum(damping[active] * 0.2, 1e-12), damping[active] * 5)
        won = active[better]
        maps[won], vectors[won], filters[won] = trial[better], new_vectors[better], new_filters[better]
        rest[won], errors[won] = new_rest[better], new_errors[better]
    return maps, errors


def _evaluate(f: Array, y: Array, projections: Array, maps: Array) -> tuple[Array, Array, Array]:
    moved = np.einsum("na,siab->snib", f, maps, optimize=True)
    vectors = moved @ projections[None]
    filters = _filters(vectors, y)
    rest = y[None] - np.einsum("sni,snic->snc", filters, vectors)
    return vectors, filters, rest


def _filters(vectors: Array, y: Array) -> Array:
    """The best q in every row: S x N x r for vectors S x N x r x C'."""
    if vectors.shape[2] == 1:
        squares = (vectors[:, :, 0] ** 2).sum(axis=2)
        products = (vectors[:, :, 0] * y[None]).sum(axis=2)
        return np.divide(products, squares, out=np.zeros_like(squares), where=squares > _NOTHING**2)[:, :, None]
    inverse = np.linalg.pinv(vectors, rcond=1e-11)  # S x N x C' x r
    return np.einsum("nc,snci->sni", y, inverse)


def _complement(vectors: Array, projections: Array) -> Array:
    """P_m (I - projection on the rows of vectors[m]): S x N x C' x C'."""
    if vectors.shape[2] == 1:
        squares = (vectors[:, :, 0] ** 2).sum(axis=2)
        scale = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > _NOTHING**2)
        inside = np.einsum("sn,snb,snc->snbc", scale, vectors[:, :, 0], vectors[:, :, 0])
    else:
        inside = np.linalg.pinv(vectors, rcond=1e-11) @ vectors
    return projections[None] - projections[None] @ inside


def _normalised(maps: Array) -> Array:
    """Every R_i of length 1: a factor belongs to the filter."""
    length = np.linalg.norm(maps, axis=(-2, -1), keepdims=True)
    return np.divide(maps, length, out=np.zeros_like(maps), where=length > 0)

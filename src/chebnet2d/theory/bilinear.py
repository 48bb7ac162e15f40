"""The terms of Paradigm II, by Gauss-Newton from many starts.

For given maps R_i the best filters q are linear least squares in every row, so they are eliminated (variable projection) and
only the r C C' numbers of the maps are searched, by Levenberg-Marquardt from many starts at once. The first ones come from
``bounds.first_guess``: for one term and a reachable target they are exact already.
"""

from dataclasses import dataclass

import numpy as np

from chebnet2d.theory.reduction import Array, Reduced

_BATCH_NUMBERS = 2**22  # entries of the Jacobians of one batch of starts: about 32 MB
_FAINT = 1e-8
"""f_m R_i P_m, or the difference of two of them, counts as zero below this part of |f_m| |R_i|. What is left there is rounding,
whose direction is random in each row: a filter of size 1e12 would fit with it a target that no exact parameters reach."""


@dataclass(frozen=True)
class Found:
    """maps: r x C x C', filters: N x r, starts: how many were tried."""

    maps: Array
    filters: Array
    starts: int

    @classmethod
    def nothing(cls, problem: Reduced) -> "Found":
        """All maps and filters 0."""
        (nodes, inputs), outputs = problem.f.shape, problem.z.shape[1]
        return cls(np.zeros((problem.rank, inputs, outputs)), np.zeros((nodes, problem.rank)), 0)


def solve(
    problem: Reduced, *, restarts: int, seed: int, accuracy: float, floor: float, guesses: Array, steps: int = 200
) -> Found:
    """The best of ``restarts`` starts; no further batch once one is within ``accuracy`` of ``floor``, a known lower bound.

    ``guesses``: S x r x C x C', the first S starts.
    """
    rng = np.random.default_rng(seed)
    inputs, outputs = problem.f.shape[1], problem.z.shape[1]
    # Rows that are zero, or whose target is zero, have no influence on the maps.
    wanted = problem.projected
    rows = np.flatnonzero(~problem.empty & ((wanted * wanted).sum(axis=1) > 0))
    f, y, projections = problem.f[rows], wanted[rows], problem.projections[rows]
    seen = _seen(f, projections)
    size = max(1, rows.size * outputs * problem.rank * inputs * outputs)
    batch = int(min(16, max(1, _BATCH_NUMBERS // size)))
    best, best_error, tried = np.zeros((problem.rank, inputs, outputs)), np.inf, 0
    while tried < max(restarts, 1) and best_error > floor + accuracy:
        count = min(batch, max(restarts, 1) - tried)
        starts = rng.standard_normal((count, problem.rank, inputs, outputs))
        usable = min(count, max(0, len(guesses) - tried))
        starts[:usable] = guesses[tried : tried + usable]
        starts = (starts.reshape(count, problem.rank, -1) @ seen).reshape(starts.shape)
        maps, errors = _descend(f, y, projections, starts, floor + 0.01 * accuracy, steps)
        winner = int(errors.argmin())
        if errors[winner] < best_error:
            best, best_error = maps[winner], float(errors[winner])
        tried += count
    best = _normalised(best)
    vectors = np.einsum("na,iab,nbc->nic", problem.f, best, problem.projections)
    return Found(best, _filters(vectors[None], problem.f, wanted)[0], tried)


def _seen(f: Array, projections: Array) -> Array:
    """The projection of a map (as a vector) on those that affect some row: with Paradigm I, the identity affects none."""
    action = np.einsum("na,nbc->ncab", f, projections).reshape(-1, f.shape[1] * projections.shape[1])
    _, sizes, right = np.linalg.svd(action, full_matrices=False)
    kept = right[sizes > 1e-10 * sizes.max(initial=0.0)]
    return kept.T @ kept


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
        tails = _complement(vectors[active], f, projections)
        jacobian = -np.einsum("sni,na,nsbc->snciab", filters[active], f, tails.transpose(1, 0, 2, 3), optimize=True)
        jacobian = jacobian.reshape(active.size, -1, unknowns)
        gradient = np.einsum("skp,sk->sp", jacobian, rest[active].reshape(active.size, -1), optimize=True)
        gram = jacobian.transpose(0, 2, 1) @ jacobian
        scale = np.trace(gram, axis1=1, axis2=2) / unknowns + 1e-300
        shifted = gram + (damping[active] * scale)[:, None, None] * np.eye(unknowns)
        step = -np.linalg.solve(shifted, gradient[:, :, None])[:, :, 0]
        trial = _normalised(maps[active] + step.reshape(active.size, rank, inputs, outputs))
        new_vectors, new_filters, new_rest = _evaluate(f, y, projections, trial)
        new_errors = np.linalg.norm(new_rest, axis=(1, 2))
        better = new_errors < errors[active]
        # A start is given up after a few consecutive steps that gain next to nothing, or that fail although they are short.
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
    filters = _filters(vectors, f, y)
    rest = y[None] - np.einsum("sni,snic->snc", filters, vectors)
    return vectors, filters, rest


def _filters(vectors: Array, f: Array, y: Array) -> Array:
    """The best q in every row: S x N x r for vectors S x N x r x C'."""
    return np.einsum("nc,snci->sni", y, _inverse(vectors, f))


def _complement(vectors: Array, f: Array, projections: Array) -> Array:
    """P_m (I - projection on the rows of vectors[m]): S x N x C' x C'."""
    return projections[None] - projections[None] @ (_inverse(vectors, f) @ vectors)


def _inverse(vectors: Array, f: Array) -> Array:
    """The pseudoinverse in every row, S x N x C' x r, without directions below ``_FAINT``."""
    smallest = _FAINT * np.linalg.norm(f, axis=1)
    if vectors.shape[2] == 1:
        sizes = np.linalg.norm(vectors, axis=3, keepdims=True)
        scale = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > smallest[:, None, None])
        return (vectors * scale * scale).transpose(0, 1, 3, 2)
    left, values, right = np.linalg.svd(vectors, full_matrices=False)
    inverted = np.divide(1.0, values, out=np.zeros_like(values), where=values > smallest[:, None])
    return (right.transpose(0, 1, 3, 2) * inverted[:, :, None, :]) @ left.transpose(0, 1, 3, 2)


def _normalised(maps: Array) -> Array:
    """Every R_i scaled to length 1: a factor can be moved to the filter."""
    length = np.linalg.norm(maps, axis=(-2, -1), keepdims=True)
    return np.divide(maps, length, out=np.zeros_like(maps), where=length > 0)

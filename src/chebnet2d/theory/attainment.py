"""Reached or only approached: the targets that Paradigm II reaches are not a closed set.

Take rows e_1, e_2, e_1 + e_2 of F^ and e_1, e_2, e_1 of Z^. Row 3 asks for a map R whose second row is a multiple of e_1, row 2
for one whose second row is a multiple of e_2, so that it is 0 and row 2 is lost. But R = diag(1, t) with filters 1, 1/t, 1
leaves an error of t: as small as one likes, for filters as large as that takes, and never 0.
"""

import numpy as np

from chebnet2d.theory.bilinear import Found
from chebnet2d.theory.bounds import lifted
from chebnet2d.theory.reduction import Reduced


def amplification(problem: Reduced, found: Found) -> float:
    """The largest sum_i |q_mi| |f_m| |R_i| over |z_m P_m|: how much larger the terms of a row are than what they add up to."""
    wanted = np.linalg.norm(problem.projected, axis=1)
    rows = wanted > 1e-9 * wanted.max(initial=0.0)
    if not rows.any():
        return 0.0
    maps = np.linalg.norm(found.maps, axis=(1, 2))
    used = np.abs(found.filters) @ maps * np.linalg.norm(problem.f, axis=1)
    return float((used[rows] / wanted[rows]).max())


def blocked_row(problem: Reduced, zero: float) -> int | None:
    """For one term of Paradigm II: a row of Z^ that no exact solution can have, although it is not 0.

    Exact solutions are the maps R with f_m R P_m parallel to z_m P_m in every row: a linear space V. In each row they must not
    vanish. The maps of V that vanish in row m are a subspace of V, and a space is no union of finitely many proper subspaces: so
    there is a solution if and only if none of these subspaces is all of V. None if there is a solution.
    """
    _, space, exact = lifted(problem, ~problem.empty, zero)
    if space is None or not exact:
        return None
    maps = space.reshape(problem.f.shape[1], problem.z.shape[1], -1)
    sizes = np.linalg.norm(np.einsum("na,abk,nbc->nck", problem.f, maps, problem.projections), axis=(1, 2))
    wanted = np.linalg.norm(problem.projected, axis=1)
    lost = (sizes <= 1e-9 * np.linalg.norm(problem.f, axis=1)) & (wanted > 1e-9 * wanted.max(initial=0.0)) & ~problem.empty
    return int(np.flatnonzero(lost)[0]) if lost.any() else None

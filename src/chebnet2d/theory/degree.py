"""The limit of polynomial filters: what a 2-D convolution of degree D can construct.

Z = sum_d p_d(L_hat) F W_d with free maps is any Z whose columns lie in the block Krylov space

    K_D = span of the columns of F, L_hat F, ..., L_hat^D F,

so the smallest error for degree D is the distance of Z from K_D. The dimension of K_D is at most C (D + 1), and stops growing at

    n = sum over the distinct eigenvalues of rank(U_k^T F)  <=  sum over the distinct eigenvalues of min(multiplicity, C).

For a generic F both are equalities: degree ceil(n / C) - 1 is needed, no more helps, and every target is reached only if no
eigenvalue has a multiplicity above C.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from chebnet2d._checks import InputError, integer
from chebnet2d.graph import Graph, Spectrum
from chebnet2d.theory.reduction import Array
from chebnet2d.theory.signals import Signals

_SAME_EIGENVALUE = 1e-9
_ABSENT = 1e-10
_DEFLATED = 1e-9


@dataclass(frozen=True)
class DegreeCurve:
    """Smallest relative errors ||T(F) - Z||_F / ||Z||_F of the 2-D convolution for D = 0, 1, ...

    Attributes:
        errors: one number per degree.
        dimensions: of K_D, one per degree.
        floor: the error of every degree that is high enough.
        distinct: number of distinct eigenvalues.
        largest_multiplicity: of an eigenvalue.
        reachable: n above, the largest dimension of K_D.
        degree_needed: ceil(n / C) - 1, from which on (for a generic F) the error is the floor.
    """

    nodes: int
    channels: int
    errors: Array
    dimensions: tuple[int, ...]
    floor: float
    distinct: int
    largest_multiplicity: int
    reachable: int

    @property
    def degree_needed(self) -> int:
        return -(-self.reachable // self.channels) - 1


def degree_curve(graph: Graph | Spectrum, F: Any, Z: Any, *, largest: int | None = None) -> DegreeCurve:
    """The curve for F and Z: N x C and D = 0..``largest`` (by default two beyond the degree that is needed)."""
    signals = Signals.of("degree_curve", graph, F, Z)
    f, z, eigenvalues = signals.f, signals.z, signals.spectrum.eigenvalues.numpy()
    nodes, channels = f.shape
    scale = float(np.linalg.norm(z))
    if scale == 0 or not f.any():
        rule = "zero, since errors are relative to Z and 0 is constructed from 0 alone"
        raise InputError("degree_curve", "F and Z", rule, verb="not be")

    # One array of indices per distinct eigenvalue; they are ascending.
    spaces = np.split(np.arange(nodes), np.flatnonzero(np.diff(eigenvalues) > _SAME_EIGENVALUE) + 1)
    floor = 0.0
    points, signal, target = [], [], []
    for space in spaces:
        left, sizes, _ = np.linalg.svd(f[space], full_matrices=False)
        inside = left[:, sizes > _ABSENT * np.linalg.norm(f)]
        coordinates = inside.T @ z[space]
        rest = z[space] - inside @ coordinates
        floor += float((rest * rest).sum())
        points.append(np.full(inside.shape[1], eigenvalues[space].mean()))
        signal.append(inside.T @ f[space])
        target.append(coordinates)

    reachable = sum(map(len, points))
    needed = -(-reachable // channels) - 1
    top = needed + 2 if largest is None else integer("degree_curve", "largest", largest, 0)
    errors, dimensions = _krylov_errors(np.concatenate(points), np.concatenate(signal), np.concatenate(target), top)
    return DegreeCurve(
        nodes=nodes,
        channels=channels,
        errors=np.sqrt(errors**2 + floor) / scale,
        dimensions=dimensions,
        floor=floor**0.5 / scale,
        distinct=len(spaces),
        largest_multiplicity=max(len(space) for space in spaces),
        reachable=reachable,
    )


def _krylov_errors(eigenvalues: Array, f: Array, z: Array, degree: int) -> tuple[Array, tuple[int, ...]]:
    """Distances of z from K_0, K_1, ..., by block Arnoldi: the powers (or Chebyshev terms) of L_hat themselves are nearly
    dependent for high degrees.

    All of it happens in the n coordinates that K_D can reach at all. In the N coordinates of the graph, rounding errors point out
    of them, and become new directions once a block is nearly used up: errors below the true minimum.
    """
    basis = np.zeros((len(f), 0))
    block, rest = f, z
    errors, dimensions = [], []
    for _ in range(degree + 1):
        size = np.linalg.norm(block)
        for _ in range(2):  # once is not enough in floating point, twice is
            block = block - basis @ (basis.T @ block)
        left, sizes, _ = np.linalg.svd(block, full_matrices=False)
        new = left[:, sizes > _DEFLATED * size]
        new = np.linalg.qr(new - basis @ (basis.T @ new))[0]
        basis = np.concatenate([basis, new], axis=1)
        rest = rest - new @ (new.T @ rest)
        errors.append(float(np.linalg.norm(rest)))
        dimensions.append(basis.shape[1])
        block = eigenvalues[:, None] * new
    return np.array(errors), tuple(dimensions)

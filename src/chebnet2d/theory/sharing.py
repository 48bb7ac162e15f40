"""The 2-D convolution with some of its numbers shared or fixed, as in Theorem 3.6. The problem is linear: the answer is exact."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from chebnet2d._checks import InputError
from chebnet2d.graph import Graph, Spectrum
from chebnet2d.theory.construction import Construction
from chebnet2d.theory.signals import Signals

Labels = NDArray[np.int64]
CONSTANT = -1


def separate(nodes: int, inputs: int, outputs: int) -> Labels:
    """A different label for every number theta[n, c, j] (N x C x C'; frequency, input and output channel): nothing is shared."""
    return np.arange(nodes * inputs * outputs, dtype=np.int64).reshape(nodes, inputs, outputs)


def toeplitz(nodes: int, inputs: int, outputs: int) -> Labels:
    """One label per diagonal of each map: N (C + C' - 1) numbers instead of N C C', as N x C x C' labels.

    f W_n = z is then the product of two polynomials with coefficients f and those of the diagonals, cut to C' terms in the
    middle. Its transpose is multiplication by f, which is injective for f != 0: every z is reached.
    """
    diagonal = np.arange(outputs)[None, :] - np.arange(inputs)[:, None] + inputs - 1
    return (np.arange(nodes)[:, None, None] * (inputs + outputs - 1) + diagonal).astype(np.int64)


def division(nodes: int, inputs: int, outputs: int) -> tuple[Labels, Labels]:
    """Labels and signs (N x C x C') of the pattern with the fewest numbers we know: 4 a row for C = 3 and 4, 8 for C = 5 to 8.

    Channels in groups of s = 1, 2, 4 or 8 are coefficients of polynomials over the real or complex numbers, the quaternions or
    the octonions. y -> f y (the transpose of f W) is injective for f != 0, as none of them has zero divisors: every z is reached.
    """
    found = [_division(inputs, outputs, size) for size in (1, 2, 4, 8)]
    pattern, signs = min(found, key=lambda pair: len(np.unique(pair[0])))
    rows = np.arange(nodes)[:, None, None] * (pattern.max() + 1)
    return rows + pattern, np.broadcast_to(signs, (nodes, inputs, outputs)).copy()


def _division(inputs: int, outputs: int, size: int) -> tuple[Labels, Labels]:
    c, j = np.arange(inputs)[:, None], np.arange(outputs)[None, :]
    labels = (c // size + j // size) * size + ((c % size) ^ (j % size))
    table = np.array([[_unit_sign(a, b, size) for b in range(size)] for a in range(size)], dtype=np.int64)
    return labels.astype(np.int64), table[c % size, j % size]


def _unit_sign(a: int, b: int, size: int) -> int:
    """The sign of e_a e_b = +-e_(a xor b) by doubling (Cayley and Dickson): (p, q)(r, s) = (p r - s* q, s p + q r*)."""
    if size == 1:
        return 1
    half = size // 2
    (upper_a, a), (upper_b, b) = divmod(a, half), divmod(b, half)
    conjugate_b = 1 if b == 0 else -1
    if upper_a and upper_b:
        return -conjugate_b * _unit_sign(b, a, half)
    if upper_b:
        return _unit_sign(b, a, half)
    return conjugate_b * _unit_sign(a, b, half) if upper_a else _unit_sign(a, b, half)


def construct_shared(
    graph: Graph | Spectrum,
    F: Any,
    Z: Any,
    labels: Any,
    *,
    signs: Any = None,
    constants: Any = None,
    tolerance: float = 1e-9,
    zero: float = 1e-12,
) -> Construction:
    """Minimise ||T(F) - Z||_F for the 2-D convolution in which entries of theta with equal label are one number.

    Args:
        labels: N x C x C' integers. -1 marks an entry that is fixed.
        signs: N x C x C' factors of the shared numbers, 1 by default.
        constants: N x C x C' values; those at the label -1 are used (0 by default).
    """
    signals = Signals.of("construct_shared", graph, F, Z, zero)
    f, z = signals.f, signals.z
    (nodes, inputs), outputs = f.shape, z.shape[1]
    marks = np.asarray(labels)
    if marks.shape != (nodes, inputs, outputs) or not np.issubdtype(marks.dtype, np.integer):
        raise InputError("construct_shared", "labels", f"integers of shape {(nodes, inputs, outputs)}", got=str(marks.shape))
    fixed = np.where(marks == CONSTANT, 0.0 if constants is None else np.asarray(constants, dtype=np.float64), 0.0)
    rest = z - np.einsum("nc,ncj->nj", f, fixed)

    free = marks != CONSTANT
    _, number = np.unique(marks[free], return_inverse=True)
    count = int(number.max(initial=-1)) + 1
    n, c, j = np.nonzero(free)
    system = np.zeros((nodes * outputs, count))
    factors = np.ones(len(n)) if signs is None else np.asarray(signs, dtype=np.float64)[free]
    np.add.at(system, (n * outputs + j, number), f[n, c] * factors)
    solution = np.linalg.lstsq(system, rest.reshape(-1), rcond=1e-13)[0] if count else np.zeros(0)
    left = float(np.linalg.norm(rest.reshape(-1) - system @ solution))
    theta = fixed
    theta[free] = solution[number] * factors
    return Construction.of(
        signals,
        ["2d"],
        [{"theta": torch.from_numpy(theta)}],
        paradigm=f"2d with {count} numbers",
        lower_bound=left,
        reason="closed form of a linear problem",
        tolerance=tolerance,
        starts=0,
        num_parameters=count,
    )

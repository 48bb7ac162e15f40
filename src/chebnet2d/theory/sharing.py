"""The 2-D convolution with some of its numbers shared or fixed, as in Theorem 4. The problem is linear: the answer is exact."""

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
    """A different label for every number theta[n, c, j] (frequency n, input channel c, output channel j): nothing is shared."""
    return np.arange(nodes * inputs * outputs, dtype=np.int64).reshape(nodes, inputs, outputs)


def toeplitz(nodes: int, inputs: int, outputs: int) -> Labels:
    """One label per diagonal of each map: N (C + C' - 1) numbers instead of N C C'.

    f W_n = z is then the product of two polynomials with coefficients f and those of the diagonals, cut to C' terms in the
    middle. Its transpose is multiplication by f, which is injective for f != 0: every z is reached.
    """
    diagonal = np.arange(outputs)[None, :] - np.arange(inputs)[:, None] + inputs - 1
    return (np.arange(nodes)[:, None, None] * (inputs + outputs - 1) + diagonal).astype(np.int64)


def construct_shared(
    graph: Graph | Spectrum, F: Any, Z: Any, labels: Any, *, constants: Any = None, tolerance: float = 1e-9, zero: float = 1e-12
) -> Construction:
    """Minimise ||T(F) - Z||_F for the 2-D convolution in which entries of theta with equal label are one number.

    Args:
        labels: N x C x C' integers. -1 marks an entry that is fixed.
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
    np.add.at(system, (n * outputs + j, number), f[n, c])
    solution = np.linalg.lstsq(system, rest.reshape(-1), rcond=1e-13)[0] if count else np.zeros(0)
    left = float(np.linalg.norm(rest.reshape(-1) - system @ solution))
    theta = fixed
    theta[free] = solution[number]
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

"""How much the output of a 2-D convolution moves with the graph.

With A = L_hat, B = L_hat' and T_d(A) - T_d(B) = sum_{j < d} c_j U_{d-1-j}(A) (A - B) T_j(B), c_0 = 1 and c_j = 2 (induction on d
by the recurrence), |U_k| <= k + 1 and |T_j| <= 1 on [-1, 1] give |T_d(A) - T_d(B)| <= (d + 2 sum_{j=1}^{d-1} (d - j)) |A - B| =
d^2 |A - B|.
"""

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.theory.reduction import Array


def stability_constant(maps: Array) -> float:
    """sum_d d^2 |W_d| for Chebyshev coefficients (D + 1) x C x C': how many times as far as L the convolution can move."""
    maps = np.asarray(maps, dtype=np.float64)
    if maps.ndim != 3:
        raise InputError("stability_constant", "maps", "(D + 1) x C x C' numbers", got=str(maps.shape))
    return float((np.arange(len(maps)) ** 2 * np.linalg.norm(maps, ord=2, axis=(1, 2))).sum())

"""Chebyshev interpolation: a filter given by its values at the Chebyshev nodes."""

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import integer, one_of

SCALINGS = ("interpolation", "paper", "coefficients")
"""What the parameters of a Chebyshev filter mean, see ``coefficient_matrix``."""


def chebyshev_nodes(degree: int) -> Tensor:
    """x_b = cos((b + 1/2) pi / (D + 1)), b = 0..D: a vector of D + 1 numbers (float64), from near 1 to near -1."""
    integer("chebyshev_nodes", "degree", degree, 0)
    return torch.from_numpy(np.cos((np.arange(degree + 1) + 0.5) * np.pi / (degree + 1)))


def coefficient_matrix(degree: int, scaling: str) -> Tensor:
    """S with W_d = sum_b S[d, b] Theta_b, from parameters to Chebyshev coefficients: (D + 1) x (D + 1), in float64.

    - ``"interpolation"``: S[d, b] = 2 / (D + 1) T_d(x_b), row 0 halved. Theta_b is the value of the filter at x_b.
    - ``"paper"``: S[d, b] = T_d(x_b), the printed form, without the factor and the halving: the value at x_b is then
      (D + 1) / 2 Theta_b plus half the sum of all Theta.
    - ``"coefficients"``: S = I; Theta_d is the coefficient of T_d.
    """
    integer("coefficient_matrix", "degree", degree, 0)
    one_of("coefficient_matrix", "scaling", scaling, SCALINGS)
    if scaling == "coefficients":
        return torch.eye(degree + 1, dtype=torch.float64)
    b = np.arange(degree + 1)
    matrix = np.cos(np.outer(b, (b + 0.5) * np.pi / (degree + 1)))
    if scaling == "interpolation":
        matrix *= 2.0 / (degree + 1)
        matrix[0] /= 2
    return torch.from_numpy(matrix)

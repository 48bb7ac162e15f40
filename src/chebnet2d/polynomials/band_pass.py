"""Band-pass polynomials: smooth functions that are near 1 on an interval, near 0 elsewhere, and add up to 1."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


def band_pass_series(edges: Sequence[float] | np.ndarray, degree: int) -> Tensor:
    """Chebyshev coefficients of M bands, (degree + 1) x M, between M + 1 edges that rise from -1 to 1.

    They are the series of the indicators, damped by Jackson's factors. The indicators add up to 1 and T_0 is not damped, so
    the polynomials add up to 1 exactly.
    """
    angles = np.arccos(np.asarray(edges, dtype=np.float64))
    d = np.arange(1, degree + 1)
    waves = 2 * (np.sin(np.outer(d, angles[:-1])) - np.sin(np.outer(d, angles[1:]))) / (np.pi * d[:, None])
    steps, angle = degree + 1, np.pi / (degree + 1)
    damping = ((steps - d) * np.cos(d * angle) + np.sin(d * angle) / np.tan(angle)) / steps
    return torch.from_numpy(np.concatenate([((angles[:-1] - angles[1:]) / np.pi)[None], damping[:, None] * waves]))

"""Error against degree for a smooth response and for one with a kink."""

from typing import TYPE_CHECKING

import numpy as np

from chebnet2d._figures import COLOURS
from chebnet2d.theory.approximation import variation_bound
from chebnet2d.theory.claims.approximation import CHANNELS, errors, smooth_bound
from chebnet2d.theory.pictures.canvas import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def approximation_figure(seed: int = 0) -> "Figure":
    """Interpolation errors of 3 x 3 responses beside their bounds."""
    rng = np.random.default_rng(seed)
    residues, map_ = rng.standard_normal((2, CHANNELS, CHANNELS)), rng.standard_normal((CHANNELS, CHANNELS))
    degrees = range(1, 61)
    smooth, rough = errors(residues, map_, degrees)
    size = float(np.linalg.norm(map_, ord=2))
    figure, axes = canvas(2, title="How fast a filter of degree D approximates a C x C response (C = 3)")
    axes[0].semilogy(degrees, smooth, label="poles at 1.25 and -1.4")
    axes[0].semilogy(degrees, [smooth_bound(residues, d) for d in degrees], "k--", lw=1, label="bound by the ellipse")
    axes[1].loglog(degrees, rough, color=COLOURS[1], label="kink at 0.3")
    axes[1].loglog(degrees, [variation_bound(2 * size, d) for d in degrees], "k--", lw=1, label="4 V / (π D)")
    for axis in axes:
        axis.set(xlabel="D", ylabel="largest error of the response")
        axis.legend(fontsize=8)
    return figure

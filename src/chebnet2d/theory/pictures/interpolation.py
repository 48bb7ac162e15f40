"""Section 4.1: the streamlined equation as printed, and with what it lost."""

from typing import TYPE_CHECKING

import numpy as np
import torch

from chebnet2d.conv import ChebConv2D
from chebnet2d.polynomials import chebyshev_nodes
from chebnet2d.theory.pictures.canvas import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def interpolation_figure(seed: int = 0) -> "Figure":
    """The filter that seven numbers make, both ways."""
    degree = 6
    theta = torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, degree + 1))
    nodes, places = chebyshev_nodes(degree), torch.linspace(-1, 1, 401, dtype=torch.float64)
    figure, (axis,) = canvas(title="Seven numbers Theta_b and the filter they make (D = 6)", width=7)
    for scaling, label in (("paper", "as printed"), ("interpolation", "with 2/(D+1) and the first term halved")):
        layer = ChebConv2D(1, 1, degree, scaling=scaling).double()
        layer.paradigm.load_state_dict({"theta": theta[:, None, None]})
        axis.plot(places, layer.response(places).detach()[:, 0, 0], label=label)
    axis.plot(nodes, theta, "ko", ms=5, label="Theta_b at the nodes")
    axis.set(xlabel="frequency (eigenvalue of L - I)", ylabel="response")
    axis.legend(fontsize=8)
    return figure

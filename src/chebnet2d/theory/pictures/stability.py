"""How far a Chebyshev term moves with the graph."""

from typing import TYPE_CHECKING

import numpy as np

from chebnet2d._figures import COLOURS
from chebnet2d.theory.claims.stability import moved, one_edge_less, weighted_path
from chebnet2d.theory.pictures.canvas import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def stability_figure(seed: int = 0) -> "Figure":
    """|T_d(L^) - T_d(L^')| / |L - L'| against d: d², two pairs of nodes with a weak edge, random graphs with one edge less."""
    rng = np.random.default_rng(seed)
    degrees = np.arange(1, 17)
    units = [np.eye(degree + 1)[degree][:, None, None] for degree in range(1, 17)]
    figure, (axis,) = canvas(title="How far T_d moves when the Laplacian moves by 1", width=6.5)
    axis.loglog(degrees, degrees**2, "k--", lw=1, label="bound: d²")
    pair = weighted_path(1e-6), weighted_path(2e-6)
    axis.loglog(degrees, [moved(*pair, unit) for unit in units], "o-", ms=3, label="two pairs, weak edge between")
    graphs = [one_edge_less(14, rng) for _ in range(20)]
    found = np.array([[moved(*graph, unit) for unit in units] for graph in graphs])
    axis.fill_between(degrees, found.min(axis=0), found.max(axis=0), color=COLOURS[1], alpha=0.3)
    axis.loglog(degrees, np.median(found, axis=0), color=COLOURS[1], label="random graphs, one edge less (median, range of 20)")
    axis.set(xlabel="d", ylabel="|T_d(L) - T_d(L')| / |L - L'|")
    axis.legend(fontsize=8)
    return figure

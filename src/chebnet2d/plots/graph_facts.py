"""A picture of a graph: its spectrum, where the energy of its labels lies, its degrees, and how classes keep to themselves."""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from chebnet2d._figures import COLOURS
from chebnet2d.graph import edge_weight_of, operator_of
from chebnet2d.plots.panels import canvas, panels
from chebnet2d.plots.spectra import density, energies
from chebnet2d.preparation.preparation import class_names_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 40
MOST_CLASSES = 30
LONGEST_NAME = 24
TITLES = (
    "share of the Laplacian's eigenvalues: 0 smooth, 2 alternating",
    "share of the labels' energy by eigenvalue",
    "nodes with at least a degree",
    "edges of a class that stay in it (bar), at random (line)",
)


def plot_data(data: Any, *, ax: Any = None) -> "Figure":
    """Draw what a ``Data`` is like, in four panels. Without labels there are two.

    The energy of the labels: that of the classes' indicators, each without its mean over the labelled nodes, in bands of
    eigenvalues; 0 is smooth, 2 alternating. Exact up to 3,000 nodes, by kernel polynomials above.
    """
    y = data.get("y")
    known = torch.zeros(int(data.num_nodes), dtype=torch.bool) if y is None else y >= 0
    labelled = bool(known.any())
    like = torch.zeros(int(data.num_nodes), 1, dtype=torch.float64)
    weight = edge_weight_of(data)
    operator = operator_of(data.edge_index, weight, like, kind="L_hat", owner="plot_data")
    matrix = operator_of(data.edge_index, weight, like, kind="A", owner="plot_data").to_scipy()
    titles = TITLES if labelled else (TITLES[0], TITLES[2])
    axes = canvas(ax, 8.4, 5.4 if labelled else 2.6)
    places = dict(zip(titles, panels(axes, titles, 2), strict=True))

    edges = np.linspace(-1, 1, BINS + 1)
    places[TITLES[0]].stairs(density(operator, edges), edges + 1, fill=True, color="0.6")
    _draw_degrees(places[TITLES[2]], np.diff(matrix.indptr))
    if labelled:
        names = class_names_of(data)
        chosen = (y[:, None] == torch.arange(len(names))).double() * known[:, None]
        centred = (chosen - chosen[known].mean(0)) * known[:, None]
        energy = energies(operator, centred, edges).sum(1)
        places[TITLES[1]].stairs(energy / (energy.sum() or 1.0), edges + 1, fill=True, color=COLOURS[0])
        _draw_homophily(places[TITLES[3]], matrix, y.numpy(), names)
    return axes.figure


def _draw_degrees(axes: Any, degrees: np.ndarray) -> None:
    """On two scales of logarithms: how many nodes have at least this degree. Isolated nodes are told in words."""
    from matplotlib.ticker import NullFormatter

    values, counts = np.unique(degrees, return_counts=True)
    least = counts[::-1].cumsum()[::-1]
    axes.plot(values[values > 0], least[values > 0], color=COLOURS[0], linewidth=1.5, marker=".", markersize=3)
    axes.set(xscale="log", yscale="log")
    axes.tick_params(which="both", labelsize=7)
    seen = values[values > 0]
    narrow = len(seen) > 0 and seen[-1] < 10 * seen[0]  # perhaps no power of ten lies between them
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_formatter("{x:,.0f}" if narrow else NullFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())
    isolated = int((degrees == 0).sum())
    mean = degrees.mean() if len(degrees) else 0.0
    text = f"mean {mean:.1f}" + (f", {isolated} isolated" if isolated else "")
    axes.text(0.97, 0.95, text, transform=axes.transAxes, ha="right", va="top", fontsize=7)


def _draw_homophily(axes: Any, matrix: Any, y: np.ndarray, names: list[str]) -> None:
    """Per class: the share of its edges (to labelled nodes) that stay in it, and the share of all edge ends that it has."""
    coo = matrix.tocoo()
    both = (y[coo.row] >= 0) & (y[coo.col] >= 0)
    start, end = y[coo.row[both]], y[coo.col[both]]
    shown = min(len(names), MOST_CLASSES)
    ends = np.bincount(start, minlength=len(names))
    same = np.bincount(start[start == end], minlength=len(names)) / np.maximum(ends, 1)
    chance = ends / max(ends.sum(), 1)
    places = np.arange(shown)
    axes.barh(places, same[:shown], color=COLOURS[0], height=0.7)
    axes.vlines(chance[:shown], places - 0.45, places + 0.45, color=COLOURS[1], linewidth=2)
    labels = [name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..." for name in names[:shown]]
    axes.set_yticks([])
    for place, label in zip(places, labels, strict=True):  # at the right: long names would lie on the panel to the left
        axes.text(1.02, place, label, va="center", fontsize=7 if shown <= 12 else 5, parse_math=False)
    axes.set(xlim=(0, 1))
    axes.invert_yaxis()

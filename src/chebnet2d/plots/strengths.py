"""A picture of which channels matter to which class: one number for each of the C x C filters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from chebnet2d._checks import InputError
from chebnet2d.models import ChebNet2D, NodeClassifier, OnBases
from chebnet2d.plots.filter_grid import short_name
from chebnet2d.plots.registry import plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMES = 40


@plot("strengths")
def plot_strengths(model: NodeClassifier | OnBases, *, class_names: Sequence[str] | None = None, ax: Any = None) -> "Figure":
    """Draw how much energy each pair of channels carries: the root mean square of its filter over the frequencies in [-1, 1].

    Row = input channel, column = output channel (class). Of more than 40 channels all are drawn, and every second, third, ... has
    its name at the edge.
    """
    if not isinstance(model, ChebNet2D):
        raise InputError("plot_strengths", "model", "C x C filters (ChebNet2D)", got=type(model).__name__, verb="have")
    from matplotlib.figure import Figure

    # D + 1 points of Gauss and Legendre are exact for degree 2 D + 1: no grid has to be fine enough for the squares.
    points, weights = np.polynomial.legendre.leggauss(model.conv.degree + 1)
    strengths = np.sqrt(np.tensordot(weights / 2, model.filters(torch.from_numpy(points)).double().numpy() ** 2, axes=1))
    channels = len(strengths)
    names = [short_name(str(name)) for name in class_names] if class_names else [str(i) for i in range(channels)]

    size = min(max(0.45 * channels, 3.2), 10.0)
    axes: Any = Figure(figsize=(size, size)).add_axes((0, 0, 1, 1)) if ax is None else ax
    # cividis: its lightness rises evenly, and it looks the same with and without red-green blindness, and in grey.
    image = axes.imshow(strengths, cmap="cividis", vmin=0)
    bar = axes.figure.colorbar(image, cax=axes.inset_axes((1.03, 0, 0.05, 1)))
    bar.set_label("root mean square of the response", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)

    named = range(0, channels, -(-channels // MOST_NAMES))
    labels = [names[i] for i in named]
    turned: dict[str, Any] = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if max(map(len, labels)) >= 4 else {}
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xticks(named, labels, fontsize=8, parse_math=False, **turned)
    axes.set_yticks(named, labels, fontsize=8, parse_math=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("class", fontsize=8)
    axes.set_ylabel("input channel", fontsize=8)
    axes.set_title("Strength of the learned filters", fontsize=10)
    return axes.figure

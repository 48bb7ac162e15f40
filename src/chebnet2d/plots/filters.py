"""A picture of what a model learned: the grid of its C x C filters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from chebnet2d._checks import InputError
from chebnet2d.models import ChebNet2D, NodeClassifier, OnBases
from chebnet2d.plots.registry import plot
from chebnet2d.polynomials import chebyshev_nodes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_GRID = 16
LONGEST_NAME = 40
CELL = 0.9  # side of a panel; the rest is the gap


@plot("filters")
def plot_filters(model: NodeClassifier | OnBases, *, class_names: Sequence[str] | None = None, ax: Any = None) -> "Figure":
    """Draw the response of every pair of channels over the frequencies.

    Row = input channel, column = output channel (class). Dots are the values at the Chebyshev nodes. All panels share their
    scale, so that a strong filter looks strong. Of more than 16 channels the first 16 are drawn, and the title says so.
    """
    if not isinstance(model, ChebNet2D):
        raise InputError("plot_filters", "model", "C x C filters (ChebNet2D)", got=type(model).__name__, verb="have")
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    frequencies = torch.linspace(-1, 1, 201, dtype=torch.float64)
    nodes = chebyshev_nodes(model.conv.degree)
    curves, dots = model.filters(frequencies).numpy(), model.filters(nodes).numpy()
    channels = curves.shape[1]
    shown = min(channels, LARGEST_GRID)
    names = [_short(str(name)) for name in class_names] if class_names else [str(i) for i in range(channels)]
    low = min(0.0, float(curves[:, :shown, :shown].min()))
    high = max(0.0, float(curves[:, :shown, :shown].max()))
    span = (high - low) or 1.0

    # One set of axes for all panels: a hundred small ones take matplotlib many seconds.
    def place(x: np.ndarray, y: np.ndarray, row: int, column: int) -> np.ndarray:
        return np.stack([column + CELL * (x + 1) / 2, row + CELL * (1 - (y - low) / span)], axis=1)

    # The figure is the grid alone; names and captions lie around it, and ``save_figure`` makes the file as large as they need.
    size = max(0.75 * shown, 3.2)
    axes: Any = Figure(figsize=(size, size)).add_axes((0, 0, 1, 1)) if ax is None else ax
    pairs = [(c, j) for c in range(shown) for j in range(shown)]
    ends = np.array([-1.0, 1.0])
    axes.add_collection(LineCollection([place(ends, np.zeros(2), c, j) for c, j in pairs], colors="0.8", linewidths=0.6))
    x = frequencies.numpy()
    for colour, chosen in (("C3", [p for p in pairs if p[0] == p[1]]), ("C0", [p for p in pairs if p[0] != p[1]])):
        axes.add_collection(LineCollection([place(x, curves[:, c, j], c, j) for c, j in chosen], colors=colour, linewidths=1.1))
    points = np.concatenate([place(nodes.numpy(), dots[:, c, j], c, j) for c, j in pairs])
    axes.plot(points[:, 0], points[:, 1], ".", color="0.35", markersize=1.8)
    axes.set(xlim=(-0.1, shown), ylim=(shown, -0.1), aspect="equal")
    centres = np.arange(shown) + CELL / 2
    turned: dict[str, Any] = (
        {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if max(map(len, names[:shown])) >= 6 else {}
    )
    axes.set_xticks(centres, names[:shown], fontsize=8, parse_math=False, **turned)
    axes.set_yticks(centres, names[:shown], fontsize=8, parse_math=False)
    axes.xaxis.set_ticks_position("top")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    part = f" (the first {shown} of {channels})" if shown < channels else ""
    axes.set_title(f"Learned filters: from channel (row) to class (column){part}", fontsize=10)
    axes.set_xlabel(
        f"in each panel: eigenvalue of the Laplacian from 0 (smooth) to 2 (alternating);\n"
        f"response from {low:.2g} to {high:.2g}, the grey line is 0",
        fontsize=8,
    )
    return axes.figure


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."

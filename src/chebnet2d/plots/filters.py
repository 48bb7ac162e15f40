"""A picture of what a model learned: the grid of its C x C filters."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from chebnet2d._checks import InputError
from chebnet2d.models import ChebNet2D, NodeClassifier

LARGEST_GRID = 12


def plot_filters(model: NodeClassifier, path: str | Path, class_names: Sequence[str] | None = None) -> Path:
    """Draw the response of every pair of channels over the frequencies and write it to ``path`` (png, pdf, svg).

    Row = input channel, column = output channel (class). Dots are the parameters at the Chebyshev nodes. All panels share their
    axes, so that a strong filter looks strong. Of more than 12 channels the first 12 are drawn, and the title says so.
    """
    if not isinstance(model, ChebNet2D):
        raise InputError(f"plot_filters: model must have C x C filters (ChebNet2D), got {type(model).__name__}.")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    from chebnet2d.polynomials import chebyshev_nodes

    frequencies = torch.linspace(-1, 1, 201, dtype=torch.float64)
    curves = model.filters(frequencies).numpy()
    nodes = chebyshev_nodes(model.conv.degree)
    dots = model.filters(nodes).numpy()
    channels = curves.shape[1]
    shown = min(channels, LARGEST_GRID)
    names = [str(name) for name in class_names] if class_names else [str(i) for i in range(channels)]
    low, high = float(curves[:, :shown, :shown].min()), float(curves[:, :shown, :shown].max())
    margin = 0.08 * (high - low) + 1e-6

    size = max(1.1 * shown, 3.0) + 0.8
    figure, axes = plt.subplots(shown, shown, figsize=(size, size), sharex=True, sharey=True, squeeze=False)
    for c in range(shown):
        for j in range(shown):
            axis = cast(Any, axes[c][j])
            axis.axhline(0, color="0.8", linewidth=0.6, zorder=0)
            axis.plot(frequencies + 1, curves[:, c, j], color="C3" if c == j else "C0", linewidth=1.2)
            axis.plot(nodes + 1, dots[:, c, j], ".", color="0.35", markersize=2)
            axis.set_ylim(low - margin, high + margin)
            axis.tick_params(labelsize=6)
            if c == 0:
                axis.set_title(names[j], fontsize=8)
            if j == 0:
                axis.set_ylabel(names[c], fontsize=8)
    axes[-1][0].set_xticks(np.array([0, 1, 2]))
    part = f" (the first {shown} of {channels} channels)" if shown < channels else ""
    figure.suptitle(f"{type(model).__name__}: response from channel (row) to class (column){part}", fontsize=10)
    figure.supxlabel("eigenvalue of the Laplacian (0 = smooth, 2 = alternating)", fontsize=8)
    figure.tight_layout()
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        figure.savefig(target, dpi=150)
    except ValueError as error:
        raise InputError(
            f"plot_filters: path must end in a picture format such as .png, got {str(target)!r} ({error})."
        ) from None
    finally:
        plt.close(figure)
    return target

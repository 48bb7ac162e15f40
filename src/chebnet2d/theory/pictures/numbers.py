"""Theorem 3.6: how many numbers a row reach every target."""

from typing import TYPE_CHECKING

import numpy as np

from chebnet2d.theory.pictures.canvas import canvas
from chebnet2d.theory.sharing import division

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def numbers_figure(seed: int = 0) -> "Figure":  # noqa: ARG001  # nothing here is drawn at random
    """Numbers a row of four ways to reach every target, and the least that any way needs, against C."""
    channels = np.arange(1, 17)
    fewest = [len(np.unique(division(1, int(c), int(c))[0])) for c in channels]
    figure, (axis,) = canvas(title="Numbers per frequency that reach every target", width=6.5)
    axis.plot(channels, channels**2, "o-", ms=3, label="2-D: C²")
    axis.plot(channels, 2 * channels - 1, "s-", ms=3, label="shared along diagonals: 2C - 1")
    axis.plot(channels, fewest, "D-", ms=3, label="shared up to sign: division algebras")
    axis.plot(channels, channels, "k:", label="C: least of all, by counting (C terms of II: C, and C³ in all)")
    axis.set(xlabel="C", ylabel="numbers a row", yscale="log", xticks=channels)
    axis.legend(fontsize=8)
    return figure

"""A picture of how far probabilities can be trusted."""

from typing import TYPE_CHECKING, Any

from chebnet2d._figures import COLOURS
from chebnet2d.training.calibration_bins import Calibration

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_calibration(calibration: Calibration, *, ax: Any = None) -> "Figure":
    """Draw the share of right nodes against the confidence, in bins. A point is the larger the more nodes its bin has, which the
    bars below count.

    On the grey line a model is as often right as it says; below it is too sure.
    """
    from matplotlib.figure import Figure

    axes: Any = Figure(figsize=(4.6, 4.2)).add_axes((0, 0, 1, 1)) if ax is None else ax
    axes.set_axis_off()
    curve, bars = axes.inset_axes((0, 0.34, 1, 0.66)), axes.inset_axes((0, 0, 1, 0.24))
    bins = calibration.bins
    curve.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    x, y = [one.confidence for one in bins], [one.right for one in bins]
    most = max((one.nodes for one in bins), default=1)
    curve.plot(x, y, color=COLOURS[0], linewidth=1)
    curve.scatter(x, y, [12 + 70 * one.nodes / most for one in bins], color=COLOURS[0], clip_on=False, zorder=3)
    curve.set(xlim=(0, 1), ylim=(0, 1.02))
    curve.set_ylabel("share that is right", fontsize=9)
    curve.set_title(f"expected calibration error {100 * calibration.error:.1f} points", fontsize=9, loc="left")
    bars.bar(
        [one.low for one in bins], [one.nodes for one in bins], [one.high - one.low for one in bins], align="edge", color="0.75"
    )
    bars.set(xlim=(0, 1))
    bars.set_ylabel("nodes", fontsize=9)
    bars.set_xlabel("confidence: probability of the predicted class", fontsize=9)
    bars.locator_params(axis="y", nbins=3, integer=True)
    for panel in (curve, bars):
        panel.tick_params(labelsize=8, length=2)
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.3, linewidth=0.5)
    bars.set_axisbelow(True)
    return axes.figure

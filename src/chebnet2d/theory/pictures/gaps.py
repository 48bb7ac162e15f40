"""Measured gaps beside their bounds."""

from typing import TYPE_CHECKING

from chebnet2d.theory.claims.generalisation import SIZES, digits_problem
from chebnet2d.theory.generalisation import PARADIGMS, measure_gaps
from chebnet2d.theory.pictures.canvas import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def gaps_figure(seed: int = 0) -> "Figure":
    """Test loss - training loss against 4 B / m E h(M), on 200 nodes of the digits graph, B = 1, 3, 10 along each line."""
    gaps = measure_gaps(*digits_problem(seed), sizes=SIZES, steps=100, splits=8, seed=seed)
    figure, (axis,) = canvas(title="Gaps on digits (B = 1, 3, 10 along each line, means of 8 splits)", width=6.5)
    for paradigm, marker in zip(PARADIGMS, "os^vD", strict=True):
        mine = [gap for gap in gaps if gap.paradigm == paradigm]
        label = paradigm.replace("2d", "2-D").replace("rank", "rank 2")
        axis.loglog([gap.bound for gap in mine], [gap.gap for gap in mine], f"{marker}-", ms=5, label=label)
    axis.set(xlabel="bound of the gap", ylabel="measured gap (test loss - training loss)")
    axis.legend(fontsize=8, title="paradigm", title_fontsize=8)
    return figure

"""Corollary 3.2: sums for two and for three channels."""

from typing import TYPE_CHECKING

import numpy as np

from chebnet2d._figures import COLOURS
from chebnet2d.theory.claims.bench import Bench, Case, with_zeros
from chebnet2d.theory.claims.sums import corrected, parallel
from chebnet2d.theory.pictures.canvas import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUMS = ("I+III", "I+II", "II+III", "II+II", "I+II+III")


def sums_figure(seed: int = 0) -> "Figure":
    """Largest certified error of each sum: random targets for C = 2, the examples of the page for C = 3."""
    bench = Bench(seed)
    rng = bench.rng("two channels")
    two = [Case.drawn(graph, rng, 2, with_zeros) for graph in bench.graphs]
    three = corrected(bench, 3) + parallel(bench, 3, 3)
    figure, axes = canvas(2, title="Sums: with II, two channels reach everything, three do not", sharey=True)
    for axis, cases, channels in ((axes[0], two, 2), (axes[1], three, 3)):
        heights = []
        for name in SUMS:
            found = [case.construct(name, restarts=8) for case in cases]
            heights.append(max(result.lower_bound / result.scale for result in found))
        bars = axis.bar(range(len(SUMS)), heights, color=COLOURS[1])
        axis.bar_label(bars, ["reached" if height < 1e-9 else f"{height:.2f}" for height in heights], fontsize=8)
        axis.set(xticks=np.arange(len(SUMS)), title=f"C = {channels}")
        axis.set_xticklabels(SUMS, fontsize=8)
    axes[0].set(ylabel="largest certified error / ||Z||", ylim=(0, 1.1 * max(axes[0].get_ylim()[1], axes[1].get_ylim()[1])))
    return figure

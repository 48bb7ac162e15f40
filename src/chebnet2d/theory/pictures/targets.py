"""Theorems 3.1 and 3.5: which paradigm misses which target."""

from typing import TYPE_CHECKING

import numpy as np

from chebnet2d._figures import COLOURS
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.claims.one_paradigm import CHANNELS, low_rank, zero_pattern
from chebnet2d.theory.pictures.canvas import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def targets_figure(seed: int = 0) -> "Figure":
    """Certified smallest errors of I, II, III and 2-D for three kinds of target, medians of five graphs."""
    bench = Bench(seed)
    kinds = {
        "rank(Z) > rank(F)": low_rank(bench),
        "F^ has zeros": zero_pattern(bench),
        "generic F and Z": list(bench.cases(bench.rng("generic"), CHANNELS)),
    }
    figure, (axis,) = canvas(title="What one paradigm misses (C = 3, medians of five graphs)", width=7)
    for i, paradigm in enumerate(("I", "II", "III", "2d")):
        results = [[case.construct(paradigm, restarts=8) for case in cases] for cases in kinds.values()]
        heights = [np.median([found.lower_bound / found.scale for found in kind]) for kind in results]
        bars = axis.bar(np.arange(3) + 0.2 * (i - 1.5), heights, 0.18, label=paradigm.replace("2d", "2-D"), color=COLOURS[i])
        axis.bar_label(bars, ["0" if height < 1e-9 else f"{height:.2f}" for height in heights], fontsize=8)
    axis.set(xticks=range(3), xticklabels=list(kinds), ylabel="certified error / ||Z||", ylim=(0, 1.05))
    axis.legend(title="paradigm", ncols=4, fontsize=8, title_fontsize=8)
    return figure

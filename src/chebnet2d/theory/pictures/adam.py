"""Values at the nodes or coefficients, under Adam."""

from typing import TYPE_CHECKING

import numpy as np

from chebnet2d.theory.adam import RATES, TARGETS, planted, train
from chebnet2d.theory.pictures.canvas import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def adam_figure(seed: int = 0, problems: int = 5) -> "Figure":
    """Median error over steps with the best rate at each step, and after 500 steps against the rate, for two planted filters."""
    figure, axes = canvas(2, 2, title="Adam on values at the nodes and on coefficients (D = 10, C = 3, five problems)", height=3)
    for i, target in enumerate(TARGETS):
        problem = planted(target, [seed * problems + i for i in range(problems)])
        for scaling, label, style in (("interpolation", "values", "-"), ("coefficients", "coefficients", "--")):
            found = train(problem, scaling)
            curve = np.median(found.errors.min(axis=1), axis=1)
            axes[2 * i].loglog(np.arange(1, len(curve) + 1), curve, style, label=label)
            axes[2 * i + 1].loglog(RATES, np.median(found.errors[-1], axis=1), style, marker="o", ms=3, label=label)
        axes[2 * i].set(title=f"{target} filter, best rate", xlabel="step", ylabel="error / ||Z||")
        axes[2 * i + 1].set(title=f"{target} filter, 500 steps", xlabel="learning rate")
    axes[0].legend(fontsize=8)
    return figure

"""Reached, or only approached."""

from typing import TYPE_CHECKING

import numpy as np

from chebnet2d._figures import COLOURS
from chebnet2d.theory.claims.one_paradigm import limit_case
from chebnet2d.theory.pictures.canvas import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def approached_figure(seed: int = 0) -> "Figure":
    """The error that Paradigm II leaves in its best row-wise fit for maps diag(1, t), against the size of the filters."""
    case = limit_case()
    rng = np.random.default_rng(seed)
    made = rng.standard_normal((3, 1)) * (case.f @ np.diag([1.0, 0.3]))
    targets = {"reached: made with t = 0.3": made, "approached: e1, e2, e1": case.z}
    figure, (axis,) = canvas(title="Paradigm II with R = diag(1, t): small errors that are never 0", width=7)
    places = np.unique(np.append(np.logspace(-7, 0, 141), 0.3))
    for i, (name, z) in enumerate(targets.items()):
        errors = []
        for t in places:
            vectors = case.f @ np.diag([1.0, t])
            filters = (vectors * z).sum(axis=1) / (vectors * vectors).sum(axis=1)
            errors.append(np.linalg.norm(filters[:, None] * vectors - z) / np.linalg.norm(z))
        axis.loglog(1 / places, np.maximum(errors, 1e-16), color=COLOURS[i], label=name)
    axis.set(xlabel="1 / t, the size of the largest filter", ylabel="error / ||Z||", ylim=(1e-9, 3))
    axis.legend(fontsize=8)
    return figure

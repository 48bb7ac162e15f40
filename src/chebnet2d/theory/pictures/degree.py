"""The plot of the degree limit."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from chebnet2d._figures import COLOURS
from chebnet2d.theory.degree import DegreeCurve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DASHES = ("-", "-", "--", "-.", "-")  # star and complete graph lie on each other, so one of them has gaps


def degree_figure(curves: Mapping[str, DegreeCurve]) -> "Figure":
    """Error against D, and against D + 1 as a part of the number of distinct eigenvalues: a matplotlib figure.

    Dots mark the degree from which on nothing improves; the error that remains there is due to repeated eigenvalues.
    """
    from matplotlib.figure import Figure  # slow to import, so only when a plot is drawn

    figure = Figure(figsize=(11, 4.9), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    largest = max(len(curve.errors) for curve in curves.values())
    for i, (name, curve) in enumerate(curves.items()):
        # Beyond the degrees that were computed the error is the floor.
        errors = np.concatenate([curve.errors, np.full(largest - len(curve.errors), curve.floor)])
        terms, needed = np.arange(1, largest + 1), curve.degree_needed
        label = f"{name}: N = {curve.nodes}, {curve.distinct} distinct, multiplicity up to {curve.largest_multiplicity}"
        for axis, place in ((left, terms), (right, terms / curve.distinct)):
            axis.plot(place, errors, color=COLOURS[i % len(COLOURS)], label=label, lw=1.5, ls=DASHES[i % len(DASHES)])
            axis.plot(place[needed], errors[needed], "o", color=COLOURS[i % len(COLOURS)], ms=6)
    channels = next(iter(curves.values())).channels
    left.set(xlabel="D + 1", ylabel="smallest error / ||Z||", xscale="log", ylim=(-0.02, 1.02), title="against the degree")
    right.set(xlabel="(D + 1) / number of distinct eigenvalues", xscale="log", title="against the distinct eigenvalues")
    right.axvline(1 / channels, color="black", lw=0.8, ls=":")
    right.annotate(f" 1/C (C = {channels})", (1 / channels, 0.6), ha="left", va="bottom", fontsize=8)
    # Below the panels: inside, curves and their dots fill every corner.
    lines = left.get_legend_handles_labels()
    figure.legend(*lines, fontsize=8, loc="outside lower center", ncols=3, title="nodes and eigenvalues", title_fontsize=8)
    figure.suptitle("What a 2-D graph convolution of degree D can construct (random F and Z)")
    return figure

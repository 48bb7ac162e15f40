"""Training curves: the validation score against epochs, a panel for each dataset."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.plots.panels import canvas, draw_legend, line_styles, panels, write_below
from chebnet2d.plots.registry import study_plot
from chebnet2d.reports.trials import is_trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3


@study_plot("curves")
def plot_curves(rows: Iterable[Mapping[str, Any]], *, ax: Any = None) -> "Figure":
    """Draw the median over the reported runs of each method, as long as half of them are in training.

    ``curve`` of a row: the validation score at each epoch.
    """
    curves: dict[tuple[str, str], list[Sequence[float]]] = {}
    for row in rows:
        if not is_trial(row) and row.get("curve"):
            curves.setdefault((row["method"], row["dataset"]), []).append(row["curve"])
    if not curves:
        raise InputError("plot_curves", "rows", "the curves of their runs", got="none", verb="have")
    datasets = list(dict.fromkeys(dataset for _, dataset in curves))
    styles = line_styles(list(dict.fromkeys(method for method, _ in curves)))
    columns = min(COLUMNS, len(datasets))
    height = max(1.65 * -(-len(datasets) // columns), 0.16 * len(styles) + 0.2)
    axes = canvas(ax, 1.85 * columns, height)
    for panel, dataset in zip(panels(axes, datasets, columns), datasets, strict=True):
        for (method, name), of_runs in curves.items():
            if name == dataset:
                median = [100 * value for value in median_curve(of_runs)]
                panel.plot(range(1, len(median) + 1), median, **{**styles[method], "linewidth": 1.0})
    draw_legend(axes, styles)
    write_below(axes, "epochs; validation score, percent, median of the runs")
    return axes.figure


def median_curve(curves: Sequence[Sequence[float]]) -> list[float]:
    """At each epoch of those runs that reach it, up to the last that half of them reach; what is no number is left out."""
    length = sorted((len(curve) for curve in curves), reverse=True)[(len(curves) - 1) // 2]
    table = np.full((len(curves), length), np.nan)
    for values, curve in zip(table, curves, strict=True):
        values[: len(curve)] = curve[:length]
    columns = (column[np.isfinite(column)] for column in table.T)
    return [float(np.median(column)) if column.size else float("nan") for column in columns]

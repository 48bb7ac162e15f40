"""The score against the degree of the filters, or against another setting that runs differ in."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

from chebnet2d._checks import InputError
from chebnet2d.plots.panels import canvas, draw_legend, line_styles, panels, write_below
from chebnet2d.plots.registry import study_plot
from chebnet2d.reports.scores import has_diverged
from chebnet2d.reports.trials import is_trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3
MOST_TICKS = 6


@study_plot("degree")
def plot_degree(rows: Iterable[Mapping[str, Any]], *, setting: str = "degree", ax: Any = None) -> "Figure":
    """Draw the score of each run against a numerical argument of its model, and the mean at each value as a line.

    Trials are drawn with their validation scores where there are some, else the reported runs with their test scores.
    """
    rows = list(rows)
    searched = any(is_trial(row) for row in rows)
    points: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        value, score = row["config"].get("model", {}).get(setting), _score(row)
        if is_trial(row) == searched and score is not None and isinstance(value, (int, float)):
            points.setdefault((row["method"], row["dataset"]), []).append((value, 100 * score))
    if not points:
        raise InputError("plot_degree", "rows", f"models with the argument {setting!r}", got="none", verb="have")
    datasets = list(dict.fromkeys(dataset for _, dataset in points))
    styles = line_styles(list(dict.fromkeys(method for method, _ in points)))
    columns = min(COLUMNS, len(datasets))
    axes = canvas(ax, 1.85 * columns, max(1.65 * -(-len(datasets) // columns), 0.16 * len(styles) + 0.2))
    for panel, dataset in zip(panels(axes, datasets, columns), datasets, strict=True):
        for (method, name), found in points.items():
            if name == dataset:
                means = {value: fmean(s for v, s in found if v == value) for value in sorted({v for v, _ in found})}
                panel.plot(*zip(*found, strict=True), ".", color=styles[method]["color"], markersize=2.5, alpha=0.5)
                panel.plot(means.keys(), means.values(), marker="o", markersize=3, **styles[method])
        values = sorted({value for (_, name), found in points.items() if name == dataset for value, _ in found})
        if len(values) <= MOST_TICKS:
            panel.set_xticks(values)
    draw_legend(axes, styles)
    what = "validation score of trials" if searched else "test score"
    write_below(axes, f"{setting}; {what}, percent")
    return axes.figure


def _score(row: Mapping[str, Any]) -> float | None:
    """None for a run that diverged."""
    if is_trial(row):
        return row["val_metric"]
    return None if row["test_nodes"] == 0 or has_diverged(row) else row["test"][row["metric"]]

"""Means and 95 % intervals of all methods, a panel for each dataset."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from chebnet2d._checks import InputError
from chebnet2d.plots.panels import canvas, inches, panels, short_title
from chebnet2d.plots.registry import study_plot
from chebnet2d.reports.tables import Cell, make_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 5
BEST: dict[str, Any] = {"color": "#D55E00", "marker": "D", "markersize": 4.5}
LEVEL: dict[str, Any] = {"color": "#0072B2", "marker": "o", "markersize": 4}
BEHIND: dict[str, Any] = {"color": "0.45", "marker": "o", "markersize": 4, "markerfacecolor": "white"}
KINDS = {"best": BEST, "not significantly worse (5 %)": LEVEL, "worse, or not tested": BEHIND}


@study_plot("intervals")
def plot_intervals(rows: Iterable[Mapping[str, Any]], *, ax: Any = None) -> "Figure":
    """Draw the mean test score of each method and its interval, with the correction for overlapping splits.

    Methods are in the order of their mean rank where there is one.
    """
    table = make_table(rows)
    if not table.cells:
        raise InputError("plot_intervals", "rows", "finished runs", got="none", verb="have")
    from matplotlib.lines import Line2D

    methods = sorted(table.methods, key=lambda method: -table.ranks.get(method, 0.0))
    columns = min(COLUMNS, len(table.datasets))
    lines = -(-len(table.datasets) // columns)
    axes = canvas(ax, 1.25 * columns, lines * (0.145 * len(methods) + 0.5))
    for i, (panel, dataset) in enumerate(zip(panels(axes, table.datasets, columns), table.datasets, strict=True)):
        for place, method in enumerate(methods):
            cell = table.cells.get((method, dataset))
            if cell is not None and cell.summary.runs:
                _draw(panel, cell, place)
        panel.set_yticks(range(len(methods)), [short_title(method) for method in methods] if i % columns == 0 else [], fontsize=7)
        panel.set_ylim(-0.7, len(methods) - 0.3)
        panel.tick_params(axis="y", length=0)
        panel.locator_params(axis="x", nbins=3)
    handles = [Line2D([], [], linewidth=1.2, **kind) for kind in KINDS.values()]
    title = f"test {table.metric}, percent, split {table.split}: mean and 95 % interval"
    below = {"loc": "upper center", "bbox_to_anchor": (0.45, -0.2 / inches(axes)[1]), "ncols": 3, "frameon": False}
    axes.legend(handles, KINDS, title=title, fontsize=7, title_fontsize=7, **below)
    return axes.figure


def _draw(panel: Any, cell: Cell, place: int) -> None:
    kind = BEST if cell.rank == 1 else LEVEL if cell.level_with_best else BEHIND
    mean, half = 100 * cell.summary.mean, 100 * cell.summary.half_width
    if half == half:  # one split has no interval
        panel.plot([mean - half, mean + half], [place, place], color=kind["color"], linewidth=1.2, solid_capstyle="butt")
    panel.plot(mean, place, linestyle="", **kind)

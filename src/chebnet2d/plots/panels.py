"""What plots of studies share: a grid of panels, lines that are told apart without colour, labels that do not overlap."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.optimize

from chebnet2d._figures import COLOURS
from chebnet2d.reports.scores import title_of

DASHES = ("-", "--", ":", "-.")
LONGEST_NAME = 28
GAP_X, GAP_Y = 0.33, 0.42  # inches between panels


def short_title(method: str) -> str:
    """A method's title, cut where it is long; a dollar sign is no formula."""
    title = title_of(method)
    return (title if len(title) <= LONGEST_NAME else f"{title[: LONGEST_NAME - 3]}...").replace("$", r"\$")


def line_styles(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A colour and a dash for each: 28 that are told apart."""
    return {
        method: {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i // len(COLOURS) % len(DASHES)], "linewidth": 1.2}
        for i, method in enumerate(methods)
    }


def canvas(ax: Any, width: float, height: float) -> Any:
    """Axes without a frame, in which panels and labels are placed; of this width and height in inches if none are given."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(width, height)).add_axes((0, 0, 1, 1)) if ax is None else ax
    axes.set_axis_off()
    return axes


def panels(axes: Any, titles: Sequence[str], columns: int, share: float = 1.0) -> list[Any]:
    """A grid of small axes with titles in the left ``share`` of ``axes``; between them there is room for titles and numbers."""
    rows = -(-len(titles) // columns)
    wide, high = inches(axes)
    gap_x, gap_y = min(GAP_X / wide, 0.5 * share / columns), min(GAP_Y / high, 0.5 / rows)
    width, height = (share - gap_x * (columns - 1)) / columns, (1 - gap_y * (rows - 1)) / rows
    made = []
    for i, title in enumerate(titles):
        row, column = divmod(i, columns)
        place = (column * (width + gap_x), 1 - height - row * (height + gap_y), width, height)
        panel = axes.inset_axes(place)
        panel.set_title(title.replace("$", r"\$"), fontsize=8, pad=3)
        panel.tick_params(labelsize=7, length=2)
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.3, linewidth=0.5)
        made.append(panel)
    return made


def inches(axes: Any) -> tuple[float, float]:
    """Width and height."""
    box = axes.get_window_extent()
    return box.width / axes.figure.dpi, box.height / axes.figure.dpi


def write_below(axes: Any, text: str, share: float = 1.0) -> None:
    """What the axes of all panels are, below their numbers."""
    axes.annotate(
        text, (share / 2, 0), (0, -20), xycoords="axes fraction", textcoords="offset points", ha="center", va="top", fontsize=8
    )


def draw_legend(axes: Any, styles: Mapping[str, Mapping[str, Any]], x: float = 1.02) -> None:
    """The lines with their names, right of the panels."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **style) for style in styles.values()]
    names = [short_title(method) for method in styles]
    axes.legend(handles, names, loc="upper left", bbox_to_anchor=(x, 1), fontsize=7, frameon=False, handlelength=2.8)


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Places in increasing order, moved as little as possible (in squares) until neighbours are ``gap`` apart."""
    steps = gap * np.arange(len(places))
    return (scipy.optimize.isotonic_regression(np.asarray(places) - steps).x + steps).tolist() if len(places) else []

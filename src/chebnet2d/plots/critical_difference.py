"""The diagram of Demsar (2006): mean ranks of all methods, and bars over those that are not told apart."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chebnet2d.plots.panels import canvas, inches, short_title
from chebnet2d.plots.registry import study_plot
from chebnet2d.reports.ranks import Friedman, friedman

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 0.19  # inches between two labels, and below between two bars
BAR = 0.11
WIDTH = 4.2  # of the scale; labels stand beside it


@study_plot("critical-difference")
def plot_critical_difference(rows: Iterable[Mapping[str, Any]], *, ax: Any = None) -> "Figure":
    """Draw the mean rank of each method over the datasets that all have, best on the left.

    A thick bar joins methods whose ranks differ by no more than the critical difference of Nemenyi's test at 5 %.
    """
    found = friedman(rows)
    names = list(found.ranks)
    half = -(-len(names) // 2)
    bars = levels([(found.ranks[group[0]], found.ranks[group[-1]]) for group in found.groups])
    depth = BAR * (max(bars, default=0) + 2)
    bottom = depth + ROW * half
    axes = canvas(ax, WIDTH, bottom + 0.75)
    low, high = 1.0, max(float(len(names)), 2.0)
    axes.set(xlim=(low, high), ylim=(bottom, -0.75))
    size = _font_size(axes, bottom + 0.75)

    _draw_scale(axes, found, low, high, size)
    for group, level in zip(found.groups, bars, strict=True):
        ends = [found.ranks[group[0]], found.ranks[group[-1]]]
        axes.plot(ends, [BAR * (level + 1)] * 2, color="#0072B2", linewidth=3, solid_capstyle="butt", zorder=3)
    margin = 0.03 * (high - low)
    for i, name in enumerate(names):
        # On the left the best is on top, on the right the last: so no line crosses another.
        left = i < half
        y = depth + ROW * (i if left else len(names) - 1 - i)
        edge, side = (low - margin, "right") if left else (high + margin, "left")
        rank = found.ranks[name]
        axes.plot([rank, rank, edge], [0, y, y], color="0.35", linewidth=0.8, clip_on=False)
        label = f"{short_title(name)}  {rank:.2f}" if left else f"{rank:.2f}  {short_title(name)}"
        axes.text(edge + (-margin if left else margin) / 2, y, label, ha=side, va="center", fontsize=size)
    return axes.figure


def levels(spans: Sequence[tuple[float, float]]) -> list[int]:
    """The lowest level for each span on which it does not touch those before it."""
    ends: list[float] = []
    found = []
    for start, end in spans:
        level = next((i for i, taken in enumerate(ends) if taken < start), len(ends))
        ends[level : level + 1] = [end]
        found.append(level)
    return found


def _draw_scale(axes: Any, found: Friedman, low: float, high: float, size: float) -> None:
    """Ranks from 1 to the number of methods, and above them how long the critical difference is."""
    axes.plot([low, high], [0, 0], color="black", linewidth=1, clip_on=False)
    step = 1 if high <= 12 else 2 if high <= 24 else 5
    ticks = list(range(int(low), int(high) + 1, step))
    for rank in ticks if ticks[-1] == high else [*ticks[:-1], int(high)]:
        axes.plot([rank, rank], [0, -0.05], color="black", linewidth=1, clip_on=False)
        axes.text(rank, -0.08, str(rank), ha="center", va="bottom", fontsize=size)
    length = found.critical_difference
    end = min(low + length, high)
    axes.plot([low, low, end, end], [-0.4, -0.45, -0.45, -0.4], color="#0072B2", linewidth=1.5, clip_on=False)
    text = f"critical difference {length:.2f}" + (", longer than the scale" if low + length > high else "")
    axes.text(low, -0.5, f"{text}; mean ranks over {found.datasets} datasets", ha="left", va="bottom", fontsize=size)


def _font_size(axes: Any, height: float) -> float:
    """8 points where a row has its place, less in small axes of the caller's."""
    return max(min(8.0, 8.0 * inches(axes)[1] / height), 3.0)

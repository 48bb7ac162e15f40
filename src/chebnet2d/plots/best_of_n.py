"""What a search of n trials is expected to find: best-of-n curves, and mean ranks after n trials."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from chebnet2d._checks import InputError
from chebnet2d.plots.panels import canvas, inches, line_styles, panels, short_title, spread, write_below
from chebnet2d.plots.registry import study_plot
from chebnet2d.reports.best_of import best_of_n, rank_by_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3
RANKS = 1.7  # inches for the panel of ranks


@study_plot("best-of-n")
def plot_best_of_n(rows: Iterable[Mapping[str, Any]], *, ax: Any = None) -> "Figure":
    """Draw the expected best validation score against the number of trials, a panel for each dataset, and on the right the mean
    rank of each method (Dodge et al. 2019).
    """
    rows = list(rows)
    curves, ranks = best_of_n(rows), rank_by_trials(rows)
    if not curves:
        hint = "A protocol with a search has them."
        raise InputError("plot_best_of_n", "rows", "trials", got="none", hint=hint, verb="have")
    datasets = list(dict.fromkeys(dataset for _, dataset in curves))
    styles = line_styles(list(dict.fromkeys(method for method, _ in curves)))
    columns = min(COLUMNS, len(datasets))
    lines = -(-len(datasets) // columns)
    height = max(1.45 * lines, 0.145 * len(styles), 1.6)
    axes = canvas(ax, 1.4 * columns + RANKS, height)
    share = 1.4 * columns / (1.4 * columns + RANKS)
    for panel, dataset in zip(panels(axes, datasets, columns, share), datasets, strict=True):
        for (method, name), curve in curves.items():
            if name == dataset:
                panel.plot(range(1, len(curve) + 1), [100 * score for score in curve], **_dotted(curve), **styles[method])
        _whole_numbers(panel, max(len(curve) for (_, name), curve in curves.items() if name == dataset))
    write_below(axes, "trials; expected best validation score, percent", share)
    _draw_ranks(axes.inset_axes((1 - 0.72 * (1 - share), 0, 0.72 * (1 - share), 1)), ranks, styles)
    return axes.figure


def _draw_ranks(panel: Any, ranks: Mapping[str, list[float]], styles: Mapping[str, Any]) -> None:
    """Names stand beside the ends of the lines, as far apart as their size asks for."""
    panel.set_title("mean rank", fontsize=8, pad=3)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelsize=7, length=2)
    write_below(panel, "trials")
    if not ranks:
        panel.text(0.5, 0.5, "no dataset with\ntrials of all", ha="center", va="center", fontsize=7, transform=panel.transAxes)
        return
    last = len(next(iter(ranks.values())))
    for method, curve in ranks.items():
        panel.plot(range(1, last + 1), curve, **_dotted(curve), **styles[method])
    _whole_numbers(panel, last)
    bottom, top = len(ranks) + 0.5, 0.5
    panel.set_ylim(bottom, top)
    ordered = sorted(ranks, key=lambda method: ranks[method][-1])
    gap = (bottom - top) * 0.13 / inches(panel)[1]
    places = spread([ranks[method][-1] for method in ordered], gap)
    inside = min(0.0, bottom - places[-1]) if places else 0.0  # the last names would leave the picture
    for method, place in zip(ordered, places, strict=True):
        end, style = ranks[method][-1], styles[method]
        span = last - 1 or 1
        beside = [last + 0.02 * span, last + 0.14 * span, last + 0.32 * span]
        panel.plot(beside, [end, place + inside, place + inside], clip_on=False, **{**style, "linewidth": 0.8})
        panel.text(last + 0.36 * span, place + inside, short_title(method), va="center", fontsize=7)


def _whole_numbers(panel: Any, last: int) -> None:
    step = -(-last // 6)
    panel.set_xticks(sorted({1, last, *range(step, last - step // 2, step)}))
    panel.set_xlim(1 - 0.02 * last, last + 0.02 * last)


def _dotted(curve: list[float]) -> dict[str, Any]:
    """One trial is a point, not a line."""
    return {"marker": "o", "markersize": 3} if len(curve) == 1 else {}

"""A grid of the filters of all pairs of channels, ordered and shaded by what they carry."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.cluster.hierarchy
import scipy.spatial.distance
import torch

from chebnet2d.models.filtering import Filtering
from chebnet2d.plots.responses import BAND, laplacian_of, responses_of
from chebnet2d.polynomials import chebyshev_nodes

LARGEST_GRID = 16
LONGEST_NAME = 40
CELL = 0.9  # side of a panel; the rest is the gap
NAMED = 3
_UNBROKEN = "\u00a0"  # a line does not end within a pair


def grid_size(rows: int, columns: int) -> tuple[float, float]:
    """Inches, width and height."""
    width, height = (max(0.75 * min(count, LARGEST_GRID), 3.2) for count in (columns, rows))
    return width, height


def draw_grid(axes: Any, models: Sequence[Filtering], known: Sequence[Sequence[str] | None], energy: np.ndarray | None) -> None:
    """Row = input, column = output. ``models``: one, or several runs, which get their median and a band.

    ``known``: names of rows and columns, where there are any. ``energy``: a number for each panel, by which they are ordered and
    shaded; None: the mean square of the response orders them.
    """
    from matplotlib.collections import LineCollection, PatchCollection, PolyCollection
    from matplotlib.patches import Rectangle

    conv = models[0].own_filter()
    frequencies = torch.linspace(-1, 1, 101, dtype=torch.float64)
    nodes = chebyshev_nodes(conv.degree)
    found = responses_of(models, frequencies)
    strengths = np.mean([_mean_squares(model) for model in models], axis=0) if energy is None else energy
    words, counts, total = models[0].rows_and_columns, strengths.shape, float(strengths.sum())
    own = words == ("channel", "class") or words[0] == words[1]  # row c and column c are of one class or feature
    stays = float(np.trace(strengths)) if own else None
    orders = _class_orders(strengths) if own else _by_strength(strengths)
    drawn = (found.middle, found.low, found.high, responses_of(models, nodes).middle, strengths)
    curves, least, most, dots, strengths = (np.take(np.take(a, orders[0], -2), orders[1], -1) for a in drawn)
    rows, columns = (_names(*side) for side in zip(known, counts, orders, strict=True))
    low = min(0.0, float(least.min()))
    high = max(0.0, float(most.max()))
    span = (high - low) or 1.0
    side = laplacian_of(conv.operator, torch.tensor([-1.0, 1.0], dtype=torch.float64)).tolist()
    turn = 1 if side[0] < side[1] else -1  # P runs from 1 (smooth) to -1

    # One set of axes for all panels: a hundred small ones take matplotlib many seconds.
    def place(x: np.ndarray, y: np.ndarray, row: int, column: int) -> np.ndarray:
        return np.stack([column + CELL * (turn * x + 1) / 2, row + CELL * (1 - (y - low) / span)], axis=1)

    pairs = list(np.ndindex(strengths.shape))
    if energy is not None:
        top = float(np.sqrt(strengths).max()) or 1.0
        patches = [Rectangle((j, c), CELL, CELL) for c, j in pairs]
        greys = [str(1 - 0.35 * float(np.sqrt(strengths[c, j])) / top) for c, j in pairs]
        axes.add_collection(PatchCollection(patches, facecolors=greys, edgecolors="none", zorder=0))
    ends = np.array([-1.0, 1.0])
    axes.add_collection(LineCollection([place(ends, np.zeros(2), c, j) for c, j in pairs], colors="0.6", linewidths=0.6))
    x = frequencies.numpy()
    for colour, diagonal in (("#D55E00", True), ("#0072B2", False)):
        chosen = [(c, j) for c, j in pairs if (own and c == j) is diagonal]
        if len(models) > 1:
            edges = [(place(x, least[:, c, j], c, j), place(x, most[:, c, j], c, j)[::-1]) for c, j in chosen]
            bands = [np.concatenate(both) for both in edges]
            axes.add_collection(PolyCollection(bands, facecolors=colour, edgecolors="none", alpha=0.25))
        axes.add_collection(LineCollection([place(x, curves[:, c, j], c, j) for c, j in chosen], colors=colour, linewidths=1.1))
    points = np.concatenate([place(nodes.numpy(), dots[:, c, j], c, j) for c, j in pairs])
    axes.plot(points[:, 0], points[:, 1], ".", color="0.35", markersize=1.8)
    axes.set(xlim=(-0.1, len(columns)), ylim=(len(rows), -0.1), aspect="equal")
    turned: dict[str, Any] = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"} if max(map(len, columns)) >= 6 else {}
    axes.set_xticks(np.arange(len(columns)) + CELL / 2, columns, fontsize=8, parse_math=False, **turned)
    axes.set_yticks(np.arange(len(rows)) + CELL / 2, rows, fontsize=8, parse_math=False)
    axes.xaxis.set_ticks_position("top")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _draw_scale(axes, len(rows), len(columns), low, high, span)
    left_out = any(count > LARGEST_GRID for count in counts)
    part = f"\nof {counts[0]} x {counts[1]} those with the strongest filters" if left_out else ""
    several = f"\nmedian of {len(models)} runs, {BAND}" if len(models) > 1 else ""
    axes.set_title(f"Learned filters: from {words[0]} (row) to {words[1]} (column){part}{several}", fontsize=10)
    shade = "" if energy is None else "; the stronger its shade, the more energy it carries on this graph"
    axes.set_xlabel(
        f"in each panel: eigenvalue of the Laplacian from 0 (smooth) to 2 (alternating);\n"
        f"response from {low:.2g} to {high:.2g}, the grey line is 0{shade}\n"
        + _strongest(strengths, (total, stays), (rows, columns), ("response" if energy is None else "energy", words[1])),
        fontsize=8,
        labelpad=14,
        parse_math=False,
    )


def _draw_scale(axes: Any, rows: int, columns: int, low: float, high: float, span: float) -> None:
    """Numbers at the panel in the lower right corner."""
    left, bottom = columns - 1, rows - 1 + CELL
    for value in dict.fromkeys((low, 0.0, high)):
        if value == 0 and min(abs(low), abs(high)) / span < 0.25 and low != high != 0:
            continue  # it would lie on its neighbour
        axes.text(left + CELL + 0.05, bottom - CELL * (value - low) / span, f"{value:.2g}", fontsize=6, va="center", color="0.3")
    for place, text, side in ((left, "0", "left"), (left + CELL, "2", "right")):
        axes.text(place, bottom + 0.05, text, fontsize=6, va="top", ha=side, color="0.3")


def _names(known: Sequence[str] | None, count: int, order: np.ndarray) -> list[str]:
    given = known if known and len(known) == count else range(count)
    return [short_name(str(given[i])) for i in order]


def _mean_squares(model: Filtering) -> np.ndarray:
    """Of each filter over [-1, 1]. D + 1 points of Gauss and Legendre are exact for degree 2 D + 1."""
    points, weights = np.polynomial.legendre.leggauss(model.own_filter().degree + 1)
    return np.tensordot(weights / 2, model.response(torch.from_numpy(points)).double().numpy() ** 2, axes=1)


def _by_strength(strengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns that are shown, the strongest first."""
    rows, columns = (np.argsort(-strengths.sum(axis), kind="stable")[:LARGEST_GRID] for axis in (1, 0))
    return rows, columns


def _class_orders(strengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of rows and columns alike: classes that are tied to each other stand side by side, the leaves of a clustering."""
    shown = np.sort(np.argsort(-(strengths.sum(0) + strengths.sum(1)), kind="stable")[:LARGEST_GRID])
    order = shown[_order(strengths[np.ix_(shown, shown)])]
    return order, order


def _order(strengths: np.ndarray) -> np.ndarray:
    if len(strengths) < 3:
        return np.arange(len(strengths))
    ties = np.sqrt(strengths + strengths.T)
    away = 1 - ties / (ties.max() or 1.0)
    np.fill_diagonal(away, 0)
    tree = scipy.cluster.hierarchy.linkage(scipy.spatial.distance.squareform(away, checks=False), "average")
    return scipy.cluster.hierarchy.leaves_list(tree)


def _strongest(
    strengths: np.ndarray,
    sums: tuple[float, float | None],
    names: tuple[Sequence[str], Sequence[str]],
    words: tuple[str, str],
) -> str:
    """Sentences: how much stays in its class, where channels are classes, and the three pairs that carry most of the total.

    ``sums``: the total, and what stays. ``words``: what strengths are, and what columns are.
    """
    (total, stays), (what, column) = sums, words
    own = stays is not None
    apart = [(c, j) for c, j in np.ndindex(strengths.shape) if not (own and c == j)]
    best = sorted(apart, key=lambda pair: -strengths[pair])[:NAMED]
    if not best:
        return ""
    if not strengths[best[0]] > 0:
        return f"Nothing is carried to another {column} than its own." if own else "All filters are 0."
    parts = [f"{names[0][c]} to {names[1][j]} ({_percent(float(strengths[c, j]), total)})" for c, j in best]
    pairs = ", ".join(part.replace(" ", _UNBROKEN) for part in parts)
    told = [f"Strongest, with their share of all {what}: {pairs}."]
    if stays is not None:
        between = "classes" if column == "class" else f"{column}s"
        told = [
            f"{_percent(stays, total)} of the {what} stays in its {column}.",
            f"Strongest between different {between}: {pairs}.",
        ]
    return "\n".join(textwrap.fill(sentence, 100) for sentence in told).replace(_UNBROKEN, " ")


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2g} %" if part < 0.995 * whole else "all"


def short_name(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."

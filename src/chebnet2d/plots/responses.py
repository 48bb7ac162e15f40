"""One filter, or one for each channel, over the frequencies, before the density of a graph's spectrum."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._figures import COLOURS
from chebnet2d.graph import SparseOperator
from chebnet2d.models import OnBases
from chebnet2d.models.filtering import Filtering
from chebnet2d.plots.panels import DASHES
from chebnet2d.plots.spectra import density

MOST_CURVES = 28  # that are told apart
MOST_UNNAMED = 7  # more channels without names are a bundle, since nobody looks one of them up
STEEPEST = 3  # the scale is at most so many times that of the middle 98 % of the graph's eigenvalues
BINS = 40
BAND = "band: the middle 80 %"


def laplacian_of(operator: str, frequencies: Any) -> Any:
    """Eigenvalues of the Laplacian, from those of the operator: L = L_hat + I, and L = I - P (with self loops where P has)."""
    return frequencies + 1 if operator == "L_hat" else 1 - frequencies


@dataclass(frozen=True)
class Responses:
    """Filters of one run or of several: the median, and between ``low`` and ``high`` the middle 80 % of the runs."""

    middle: np.ndarray
    low: np.ndarray
    high: np.ndarray


def responses_of(models: Sequence[Filtering], frequencies: Tensor, graphs: Sequence[Any] | None = None) -> Responses:
    """``graphs``: prepared for each model, for bases that depend on the signal.

    Channels are matched over runs where they are classes; others have no order, and all channels of all runs are one set.
    """
    every = [
        model.response(frequencies, graph).numpy() for model, graph in zip(models, graphs or [None] * len(models), strict=True)
    ]
    if len(every) == 1:
        return Responses(every[0], every[0], every[0])
    if every[0].ndim == 2 and not models[0].channels_are_classes:
        every = [curve[:, None] for curves in every for curve in curves.T]
    low, middle, high = np.quantile(np.stack(every), [0.1, 0.5, 0.9], axis=0)
    return Responses(middle, low, high)


def draw_curves(
    axes: Any, models: Sequence[Filtering], names: Sequence[str] | None, operator: SparseOperator | None, graphs: Sequence[Any]
) -> None:
    """Response against the eigenvalue of the Laplacian. ``models``: one, or several runs, which get their median and a band.

    ``operator``: of the graph whose density lies behind.
    """
    kind = models[0].own_filter().operator
    frequencies = torch.linspace(-1, 1, 401, dtype=torch.float64)
    found = responses_of(models, frequencies, graphs)
    curves, least, most = (part.reshape(len(frequencies), -1) for part in (found.middle, found.low, found.high))
    if len(models) == 1 and np.allclose(curves, curves[:, :1], rtol=1e-6, atol=1e-9):
        curves = curves[:, :1]
    x = laplacian_of(kind, frequencies.numpy())
    if operator is not None:
        axes.set_ylim(*_scale(x, least, most, *draw_density(axes, operator, kind)))
    known = names is not None and len(names) == curves.shape[1]
    bundle = not known and curves.shape[1] > MOST_UNNAMED
    count = min(curves.shape[1], MOST_CURVES)
    named = names if names is not None and known else [f"channel {c}" for c in range(curves.shape[1])]
    if bundle:
        axes.plot(x, curves, linewidth=0.7, color=COLOURS[0], alpha=0.4)
        axes.plot(x, np.median(curves, axis=1), linewidth=2.2, color="black", label="median")
    for c in () if bundle else range(count):
        style = {"color": COLOURS[c % len(COLOURS)], "linestyle": DASHES[c // len(COLOURS) % len(DASHES)]}
        if len(models) > 1:
            axes.fill_between(x, least[:, c], most[:, c], color=style["color"], alpha=0.2, linewidth=0)
        axes.plot(x, curves[:, c], linewidth=1.5, label=named[c].replace("$", r"\$") if curves.shape[1] > 1 else None, **style)
    axes.axhline(0, color="0.4", linewidth=0.7)
    loops = " with self loops" if "~" in kind else ""
    axes.set_xlabel(f"eigenvalue of the Laplacian{loops}: 0 smooth, 2 alternating", fontsize=9)
    axes.set_ylabel("response of the filter", fontsize=9)
    axes.set_xlim(0, 2)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    what = f"one for each of {curves.shape[1]} channels; black: their median" if bundle else _what(models, found, count)
    axes.set_title(f"Filter of {_method(models[0])}: {what}", fontsize=10)
    if curves.shape[1] > 1 and not bundle:
        right = 1.01 if operator is None else 1.12
        axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(right, 1), handlelength=2.8)


def _method(model: Filtering) -> str:
    return f"{model.method} on bases" if isinstance(model, OnBases) else type(model).__name__


def _scale(x: np.ndarray, least: np.ndarray, most: np.ndarray, there: np.ndarray, middle: np.ndarray) -> tuple[float, float]:
    """A polynomial may be of any size where the graph has no eigenvalues, or next to none. ``there``, ``middle``: the ends of
    all eigenvalues and of nearly all."""
    reach = []
    for first, last in (there, middle):
        inside = (x >= first) & (x <= last)
        reach.append((min(0.0, float(least[inside].min())), max(0.0, float(most[inside].max()))))
    span = STEEPEST * (reach[1][1] - reach[1][0])
    low, high = (reach[0][0], reach[0][1]) if span == 0 else (max(reach[0][0], -span), min(reach[0][1], span))
    return low - 0.05 * (high - low), high + 0.05 * (high - low) or 1.0


def _what(models: Sequence[Filtering], found: Responses, drawn: int) -> str:
    """What the curves are."""
    channels = 1 if found.middle.ndim == 1 else found.middle.shape[1]
    part = f" (the first {drawn} of {channels})" if drawn < channels else ""
    what = "one for all channels" if drawn == 1 else f"one for each channel{part}"
    if len(models) > 1 and found.middle.ndim == 2 and channels == 1:
        return f"all channels of {len(models)} runs, median and {BAND}"
    return what if len(models) == 1 else f"{what},\nmedian of {len(models)} runs, {BAND}"


def draw_density(axes: Any, operator: SparseOperator, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Grey steps behind what is drawn, on a scale of their own; between which eigenvalues the graph has all of its own, and
    98 % of them."""
    edges = np.linspace(-1, 1, BINS + 1)
    shares = np.clip(density(operator, edges), 0, None)
    places = laplacian_of(kind, edges)
    shares, places = (shares, places) if kind == "L_hat" else (shares[::-1], places[::-1])
    behind = axes.twinx()
    behind.stairs(shares, places, fill=True, color="0.87")
    behind.set_ylabel("share of the graph's eigenvalues", fontsize=8, color="0.45")
    behind.tick_params(labelsize=7, colors="0.45")
    behind.spines[["top", "left"]].set_visible(False)
    behind.set_ylim(0, None)
    axes.set_zorder(behind.get_zorder() + 1)
    axes.patch.set_visible(False)
    held = np.flatnonzero(shares > 1e-4 * shares.max())
    below = np.concatenate([[0.0], shares.cumsum() / shares.sum()])
    return places[[held[0], held[-1] + 1]], np.interp([0.01, 0.99], below, places)

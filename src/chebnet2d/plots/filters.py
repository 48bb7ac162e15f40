"""A picture of what a model learned: its filter, the filters of its channels, or the grid of those of all pairs of channels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from chebnet2d._checks import InputError
from chebnet2d.conv.polynomial_conv import Signal
from chebnet2d.graph import SparseOperator
from chebnet2d.models import Ensemble, NodeClassifier, OnBases
from chebnet2d.models.filtering import Filtering
from chebnet2d.models.node_classifier import evaluating
from chebnet2d.plots.filter_grid import draw_grid, grid_size, short_name
from chebnet2d.plots.panels import canvas
from chebnet2d.plots.registry import plot
from chebnet2d.plots.responses import draw_curves
from chebnet2d.plots.spectra import pair_energies

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = (6.4, 4.0)  # inches
HINT = "Methods with filters are chebnet2d, chebnetii, gprgnn and most with a basis in the list of models."
GAP = 1.5  # between the pictures of two members


@plot("filters")
def plot_filters(
    model: NodeClassifier | OnBases, *, class_names: Sequence[str] | None = None, ax: Any = None, data: Any = None
) -> "Figure":
    """Draw the learned filters over the eigenvalues of the Laplacian: one curve, one per channel, or a grid of one per pair.

    Row = input channel, column = output channel (class). Dots are the values at the Chebyshev nodes. All panels share their
    scale, so that a strong filter looks strong. Of more than 16 channels the 16 with the strongest filters are drawn, and the
    title says so. A model on bases has its filter before the MLP: its rows are features, its columns features or hidden units.

    ``data``: a graph, which is prepared as the model's. Curves then have the density of its spectrum behind them, and the panels
    of a grid are shaded by the energy that they carry on it. Bases that depend on the signal are drawn with a graph alone.

    Of an ``Ensemble`` every member with filters is drawn, one below the other: the median of its runs, and a band that holds the
    middle 80 % of them.
    """
    from matplotlib.figure import Figure

    members = [Member(runs, _prepared(model, data)) for runs in _members(model)]
    sizes = [member.size for member in members]
    if len(members) == 1:
        axes: Any = Figure(figsize=sizes[0]).add_axes((0, 0, 1, 1)) if ax is None else ax
        members[0].draw(axes, class_names)
        return axes.figure
    height = sum(high for _, high in sizes) + GAP * (len(sizes) - 1)
    width, top = max(wide for wide, _ in sizes), height
    axes = canvas(ax, width, height)
    left, bottom, right, upper = axes.get_position().extents
    for member, (wide, high) in zip(members, sizes, strict=True):
        # Axes of the figure and not inside of these: else the density would cover the curves.
        y, part = (top - high) / height, (wide / width * (right - left), high / height * (upper - bottom))
        member.draw(axes.figure.add_axes((left, bottom + y * (upper - bottom), *part)), class_names)
        top -= high + GAP
    return axes.figure


class Member:
    """Runs of one method, which are drawn together."""

    def __init__(self, runs: Sequence[Filtering], data: Any) -> None:
        conv = runs[0].own_filter()
        if data is None and not conv.basis.fixed:
            got, hint = f"none for {type(runs[0]).__name__}", "Its filters depend on the signal: give the graph, too."
            raise InputError("plot_filters", "data", "a graph", got=got, hint=hint)
        self.graphs = [_prepared(run, data) for run in runs]
        self.signals = [_signal(run, graph) for run, graph in zip(runs, self.graphs, strict=True)]
        self.operator = _operator(runs[0], self.graphs[0]) if self.signals[0] is None else self.signals[0][1]
        with torch.no_grad():
            shape = conv.curves(torch.zeros(1, dtype=torch.float64), self.signals[0]).shape
        self.grid = (shape[1], shape[2]) if len(shape) == 3 else None
        # The channels of runs that did not start from the identity are not each other's.
        alike = self.grid is None or getattr(runs[0], "config", {}).get("init", "identity") == "identity"
        self.runs = runs if alike else runs[:1]

    @property
    def size(self) -> tuple[float, float]:
        return CURVES if self.grid is None else grid_size(*self.grid)

    def draw(self, axes: Any, class_names: Sequence[str] | None) -> None:
        if self.grid is None:
            known = class_names if self.runs[0].channels_are_classes else None
            names = [short_name(str(name)) for name in known] if known else None
            draw_curves(axes, self.runs, names, self.operator, self.graphs)
            return
        with torch.no_grad():
            pairs = zip(self.runs, self.signals, strict=False)
            energies = [pair_energies(run.own_filter(), *signal) for run, signal in pairs if signal is not None]
        features = getattr(getattr(self.runs[0], "preparation", None), "feature_names", None)
        words = self.runs[0].rows_and_columns
        of_word = {"class": class_names, "channel": class_names if "class" in words else None, "feature": features}
        sides = [of_word.get(word) for word in words]
        draw_grid(axes, self.runs, sides, np.mean(energies, axis=0) if energies else None)


def _members(model: NodeClassifier | OnBases) -> list[list[Filtering]]:
    """The runs to draw together; members of an ensemble without filters are left out."""
    if not isinstance(model, Ensemble):
        return [[_drawable(model)]]
    found: list[list[Filtering]] = [
        [run for run in runs if isinstance(run, Filtering) and run.has_filter] for runs in model.models
    ]
    if not any(found):
        got = ", ".join(dict.fromkeys(type(runs[0]).__name__ for runs in model.models))
        raise InputError("plot_filters", "model", "a member with one convolution by polynomials", got=got, hint=HINT, verb="have")
    return [runs for runs in found if runs]


def _drawable(model: NodeClassifier | OnBases) -> Filtering:
    if not isinstance(model, Filtering):
        rule = "one convolution by polynomials, whose filters can be drawn"
        raise InputError("plot_filters", "model", rule, got=type(model).__name__, hint=HINT, verb="have")
    return model


def _prepared(model: Any, data: Any) -> Any:
    return data if data is None or model.preparation is None else model.preparation.apply(data)


def _operator(model: Filtering, data: Any) -> SparseOperator | None:
    """Of a model without one signal."""
    return None if data is None else model.operator_on(data, torch.zeros(int(data.num_nodes), 1))


def _signal(model: Filtering, data: Any) -> Signal | None:
    if data is None or not model.one_signal:
        return None
    with evaluating(model):
        return model.signal_on(data)

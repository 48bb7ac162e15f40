"""Plots by name: of models, and of studies."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from chebnet2d._registry import Registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Plot(Protocol):
    """Draws a model and returns the figure. ``class_names``: one per output of the model; ``ax``: matplotlib axes to draw into.

    A plot that also has ``data`` takes a graph, for what the model does on it.

    matplotlib is imported inside of the function, so that ``--help`` stays quick; ``save_figure`` cuts the picture to size.
    """

    def __call__(self, model: Any, *, class_names: Any = None, ax: Any = None) -> "Figure": ...


PLOTS: Registry[Plot] = Registry("plot")
plot = PLOTS.register


def find_plot(name: str) -> Plot:
    """The picture of a model by its name; an unknown name lists those there are."""
    return PLOTS.find(name, "find_plot")


class StudyPlot(Protocol):
    """Draws the rows of a study, trials included, and returns the figure. ``ax``: matplotlib axes to draw into."""

    def __call__(self, rows: Iterable[Mapping[str, Any]], *, ax: Any = None) -> "Figure": ...


STUDY_PLOTS: Registry[StudyPlot] = Registry("plot of a study")
study_plot = STUDY_PLOTS.register


def find_study_plot(name: str) -> StudyPlot:
    """The picture of a study by its name; an unknown name lists those there are."""
    return STUDY_PLOTS.find(name, "find_study_plot")

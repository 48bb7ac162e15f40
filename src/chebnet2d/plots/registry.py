"""Plots by name."""

from typing import TYPE_CHECKING, Any, Protocol

from chebnet2d._registry import Registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Plot(Protocol):
    """Draws a model and returns the figure. ``class_names``: one per output of the model; ``ax``: matplotlib axes to draw into.

    matplotlib is imported inside of the function, so that ``--help`` stays quick; ``save_figure`` cuts the picture to size.
    """

    def __call__(self, model: Any, *, class_names: Any = None, ax: Any = None) -> "Figure": ...


PLOTS: Registry[Plot] = Registry("plot")
plot = PLOTS.register


def find_plot(name: str) -> Plot:
    return PLOTS.find(name, "find_plot")

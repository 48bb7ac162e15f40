"""Plots by name."""

from typing import TYPE_CHECKING, Any, Protocol

from chebnet2d._registry import Registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Plot(Protocol):
    """Draws a model and returns the figure. ``class_names``: of the model's outputs; ``ax``: matplotlib axes to draw into."""

    def __call__(self, model: Any, *, class_names: Any = None, ax: Any = None) -> "Figure": ...


PLOTS: Registry[Plot] = Registry("plot")
plot = PLOTS.register


def find_plot(name: str) -> Plot:
    return PLOTS.find(name, "find_plot")

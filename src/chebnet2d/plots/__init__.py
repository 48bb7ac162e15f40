"""Pictures of models. A plot is one file here: a function below ``@plot("name")``. matplotlib loads when the first is drawn."""

from chebnet2d._figures import save_figure
from chebnet2d._registry import import_modules
from chebnet2d.plots.filters import plot_filters
from chebnet2d.plots.registry import PLOTS, Plot, find_plot, plot

import_modules(__name__)

__all__ = ["PLOTS", "Plot", "find_plot", "plot", "plot_filters", "save_figure"]

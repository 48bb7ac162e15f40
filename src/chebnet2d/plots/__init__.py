"""Pictures of models and studies. A plot is one file here: a function below ``@plot("name")`` or ``@study_plot("name")``.

matplotlib loads when the first is drawn.
"""

from chebnet2d._figures import save_figure
from chebnet2d._registry import import_modules
from chebnet2d.plots.best_of_n import plot_best_of_n
from chebnet2d.plots.calibration import plot_calibration
from chebnet2d.plots.critical_difference import plot_critical_difference
from chebnet2d.plots.curves import plot_curves
from chebnet2d.plots.degree import plot_degree
from chebnet2d.plots.explanation import plot_explanation
from chebnet2d.plots.filters import plot_filters
from chebnet2d.plots.graph_facts import plot_data
from chebnet2d.plots.intervals import plot_intervals
from chebnet2d.plots.registry import PLOTS, STUDY_PLOTS, Plot, StudyPlot, find_plot, find_study_plot, plot, study_plot

import_modules(__name__)

__all__ = [
    "PLOTS",
    "STUDY_PLOTS",
    "Plot",
    "StudyPlot",
    "find_plot",
    "find_study_plot",
    "plot",
    "plot_best_of_n",
    "plot_calibration",
    "plot_critical_difference",
    "plot_curves",
    "plot_data",
    "plot_degree",
    "plot_explanation",
    "plot_filters",
    "plot_intervals",
    "save_figure",
    "study_plot",
]

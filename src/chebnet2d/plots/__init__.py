"""Pictures. matplotlib loads when the first one is drawn."""

from chebnet2d.plots.filters import plot_filters

__all__ = ["plot_filters"]

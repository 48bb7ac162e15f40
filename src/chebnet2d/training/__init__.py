"""Training: one stack of runs, early stopping on validation, test labels read once."""

from chebnet2d.training.fit import History, Progress, Result, Run, fit, fit_many, initialise_parameters, stack_width
from chebnet2d.training.node_batches import fit_on_nodes, sampling_of
from chebnet2d.training.settings import Group, Settings

__all__ = [
    "Group",
    "History",
    "Progress",
    "Result",
    "Run",
    "Settings",
    "fit",
    "fit_many",
    "fit_on_nodes",
    "initialise_parameters",
    "sampling_of",
    "stack_width",
]

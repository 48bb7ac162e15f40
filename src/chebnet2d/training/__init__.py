"""Training: one loop for full graphs, mini batches and bases on disk; early stopping on validation, test labels read once."""

from chebnet2d.training.batches import Batches
from chebnet2d.training.calibration import fit_temperature
from chebnet2d.training.checkpoint import Checkpoint
from chebnet2d.training.fit import fit, fit_many, fit_together, initialise_parameters
from chebnet2d.training.judging import calibrate, judge
from chebnet2d.training.processes import process_group, under_torchrun
from chebnet2d.training.pruning import Pruner, Standing
from chebnet2d.training.report import Report
from chebnet2d.training.run import EpochProgress, History, Interrupted, Result, Run
from chebnet2d.training.settings import Group, Settings
from chebnet2d.training.tasks.bases import stored_split
from chebnet2d.training.tasks.full_graph import stack_width
from chebnet2d.training.tasks.node_batches import sampling_of
from chebnet2d.training.threshold import choose_threshold

__all__ = [
    "Batches",
    "Checkpoint",
    "EpochProgress",
    "Group",
    "History",
    "Interrupted",
    "Pruner",
    "Report",
    "Result",
    "Run",
    "Settings",
    "Standing",
    "calibrate",
    "choose_threshold",
    "fit",
    "fit_many",
    "fit_temperature",
    "fit_together",
    "initialise_parameters",
    "judge",
    "process_group",
    "sampling_of",
    "stack_width",
    "stored_split",
    "under_torchrun",
]

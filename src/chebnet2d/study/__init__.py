"""Many runs by a frozen protocol: protocol -> plan -> executor -> store."""

from chebnet2d.study.arms import Arm
from chebnet2d.study.curves import unpack_curve, unpack_labels
from chebnet2d.study.dataset_cache import DatasetCache
from chebnet2d.study.estimate import Estimate, estimate_study
from chebnet2d.study.export import export_rows, read_for_plots, read_rows, read_trials
from chebnet2d.study.plan import make_plan
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.rows import train_unit
from chebnet2d.study.run import run_study
from chebnet2d.study.selection import Selection
from chebnet2d.study.store import Store

__all__ = [
    "Arm",
    "DatasetCache",
    "Estimate",
    "Protocol",
    "Selection",
    "Store",
    "estimate_study",
    "export_rows",
    "make_plan",
    "read_for_plots",
    "read_rows",
    "read_trials",
    "run_study",
    "train_unit",
    "unpack_curve",
    "unpack_labels",
]

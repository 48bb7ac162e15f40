"""Many runs by a frozen protocol: protocol -> plan -> executor -> store."""

from chebnet2d.study.executor import StudyProgress, run_study
from chebnet2d.study.plan import Catalogue, Unit, make_plan
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.store import Store

__all__ = ["Catalogue", "Protocol", "Store", "StudyProgress", "Unit", "make_plan", "run_study"]

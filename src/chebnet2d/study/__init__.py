"""Many runs by a frozen protocol: protocol -> plan -> executor -> store."""

from chebnet2d.study.export import export_rows, read_rows
from chebnet2d.study.plan import DatasetCache, make_plan
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.rows import train_unit
from chebnet2d.study.run import run_study
from chebnet2d.study.store import Store

__all__ = ["DatasetCache", "Protocol", "Store", "export_rows", "make_plan", "read_rows", "run_study", "train_unit"]

"""Many runs: protocol -> plan -> executor -> store -> tables. And the search for settings."""

from chebnet2d.study.executor import StudyProgress, run_study
from chebnet2d.study.plan import Catalogue, Unit, build_model, make_plan
from chebnet2d.study.presets import Preset, load_preset, write_preset
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.statistics import Comparison, Summary, average_ranks, compare, summarize
from chebnet2d.study.store import Store
from chebnet2d.study.table import Cell, Table, format_table, make_table, published_numbers

__all__ = [
    "Catalogue",
    "Cell",
    "Comparison",
    "Preset",
    "Protocol",
    "Store",
    "StudyProgress",
    "Summary",
    "Table",
    "Unit",
    "average_ranks",
    "build_model",
    "compare",
    "format_table",
    "load_preset",
    "make_plan",
    "make_table",
    "published_numbers",
    "run_study",
    "summarize",
    "write_preset",
]

"""Many runs: protocol -> plan -> executor -> store -> tables. And the search for settings."""

from chebnet2d.study.budget import Budget
from chebnet2d.study.executor import StudyProgress, run_study
from chebnet2d.study.plan import Catalogue, Unit, build_model, make_plan
from chebnet2d.study.presets import Preset, load_preset, write_preset
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.search import SearchProgress, SearchResult, Trial, search
from chebnet2d.study.space import Axis, Space, make_space
from chebnet2d.study.statistics import Comparison, Summary, average_ranks, compare, summarize
from chebnet2d.study.store import Store
from chebnet2d.study.table import Cell, Table, format_table, make_table, make_tables, published_numbers

__all__ = [
    "Axis",
    "Budget",
    "Catalogue",
    "Cell",
    "Comparison",
    "Preset",
    "Protocol",
    "SearchProgress",
    "SearchResult",
    "Space",
    "Store",
    "StudyProgress",
    "Summary",
    "Table",
    "Trial",
    "Unit",
    "average_ranks",
    "build_model",
    "compare",
    "format_table",
    "load_preset",
    "make_plan",
    "make_space",
    "make_table",
    "make_tables",
    "published_numbers",
    "run_study",
    "search",
    "summarize",
    "write_preset",
]

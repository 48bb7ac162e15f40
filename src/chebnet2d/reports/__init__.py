"""What rows of studies say: tables, statistics, pages, timings."""

from chebnet2d.reports.formats import format_table
from chebnet2d.reports.pages import make_page, read_notes
from chebnet2d.reports.statistics import Comparison, Summary, average_ranks, compare, summarize
from chebnet2d.reports.tables import Cell, Table, make_table, make_tables, published_numbers

__all__ = [
    "Cell",
    "Comparison",
    "Summary",
    "Table",
    "average_ranks",
    "compare",
    "format_table",
    "make_page",
    "make_table",
    "make_tables",
    "published_numbers",
    "read_notes",
    "summarize",
]

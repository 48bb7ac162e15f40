"""What rows of studies say: tables, statistics, pages, timings."""

from chebnet2d.reports.statistics import Comparison, Summary, average_ranks, compare, summarize
from chebnet2d.reports.tables import Cell, Table, format_table, make_table, make_tables, published_numbers

__all__ = [
    "Cell",
    "Comparison",
    "Summary",
    "Table",
    "average_ranks",
    "compare",
    "format_table",
    "make_table",
    "make_tables",
    "published_numbers",
    "summarize",
]

"""What rows of studies say: tables, statistics, pages, timings."""

from chebnet2d.reports.best_of import best_of_n, expected_best, rank_by_trials
from chebnet2d.reports.budgets import Budget, find_differences, read_budgets
from chebnet2d.reports.comparisons import Comparison, Probabilities, compare_all, compare_with, count_wins, holm, judge
from chebnet2d.reports.formats import format_table
from chebnet2d.reports.pages import make_page, read_notes
from chebnet2d.reports.ranks import Friedman, critical_difference, friedman
from chebnet2d.reports.statistics import Summary, compare, summarize
from chebnet2d.reports.tables import Table, make_table, make_tables, published_numbers

__all__ = [
    "Budget",
    "Comparison",
    "Friedman",
    "Probabilities",
    "Summary",
    "Table",
    "best_of_n",
    "compare",
    "compare_all",
    "compare_with",
    "count_wins",
    "critical_difference",
    "expected_best",
    "find_differences",
    "format_table",
    "friedman",
    "holm",
    "judge",
    "make_page",
    "make_table",
    "make_tables",
    "published_numbers",
    "rank_by_trials",
    "read_budgets",
    "read_notes",
    "summarize",
]

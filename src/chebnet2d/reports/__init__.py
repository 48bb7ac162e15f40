"""What rows of studies say: tables, statistics, pages, timings."""

from chebnet2d.reports.formats import format_table
from chebnet2d.reports.pages import make_page, read_notes
from chebnet2d.reports.tables import Table, make_table, make_tables, published_numbers

__all__ = ["Table", "format_table", "make_page", "make_table", "make_tables", "published_numbers", "read_notes"]

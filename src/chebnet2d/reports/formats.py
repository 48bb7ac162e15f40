"""Tables as text: Markdown, LaTeX, CSV, JSON. Formatting happens here and nowhere else; rows keep raw numbers."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict

from chebnet2d._checks import one_of
from chebnet2d._json import to_json
from chebnet2d._targets import Mark
from chebnet2d.reports.comparisons import Families
from chebnet2d.reports.latex import latex_table
from chebnet2d.reports.markdown import markdown_lines
from chebnet2d.reports.scores import first_and_others, title_of
from chebnet2d.reports.sections.comparisons import describe_comparisons
from chebnet2d.reports.tables import Cell, Table

MARKS = (
    *map(Mark, (b"| method |", b"% \\usepackage{booktabs,graphicx}", b"method,dataset,split,metric,", b'{\n  "cells": [')),
    Mark(b"", b"\n## Where the settings come from\n"),  # a page, which begins with the user's own words
)
"""By which a file with a table is known when it is to be replaced."""


def format_table(tables: Table | Sequence[Table], style: str = "markdown", families: Families | None = None) -> str:
    """One table, or several one below the other (in CSV and JSON: the cells of all in one list, with raw numbers).

    ``families``: what ``compare_all`` says, in Markdown and JSON.
    """
    one_of("format_table", "style", style, ("markdown", "latex", "csv", "json"))
    several = [tables] if isinstance(tables, Table) else list(tables)
    if style in ("markdown", "latex"):
        parts = [_markdown(table) if style == "markdown" else latex_table(table) for table in several]
        return "\n".join([*parts, describe_comparisons(families)] if families and style == "markdown" else parts)
    records = [
        {"method": method, "dataset": dataset, "split": table.splits[dataset], "metric": cell.metric, **asdict(cell.summary)}
        | {name: getattr(cell, name) for name in ("diverged", "without_test", "rank", "level_with_best", "published")}
        for table in several
        for (method, dataset), cell in table.cells.items()
    ]
    if style == "json":
        ranks = {table.split: dict(table.ranks) for table in several}
        compared = [{"split": split, **asdict(one)} for split, family in (families or {}).items() for one in family]
        return to_json({"cells": records, "average_ranks": ranks, "comparisons": compared}, indent=2) + "\n"
    out = io.StringIO()
    if records:
        writer = csv.DictWriter(out, fieldnames=list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    return out.getvalue()


def _number(cell: Cell) -> str:
    if not cell.summary.runs:
        return cell.no_number
    half = "" if cell.summary.splits < 2 else f" ± {100 * cell.summary.half_width:.2f}"
    return f"{100 * cell.summary.mean:.2f}{half}"


def _grid(table: Table) -> list[list[str]]:
    """Header and rows."""
    grid = [["method", *table.datasets, *(["rank"] if table.ranks else [])]]
    for method in table.methods:
        cells = [table.cells.get((method, dataset)) for dataset in table.datasets]
        rank = [f"{table.ranks[method]:.2f}"] if table.ranks else []
        grid.append([title_of(method), *("" if cell is None else _marked(cell) for cell in cells), *rank])
    return grid


def _markdown(table: Table) -> str:
    return "\n".join([*markdown_lines(_grid(table)), "", _legend(table)]) + "\n"


def _marked(cell: Cell) -> str:
    text = _number(cell)
    text = {1: f"**{text}**", 2: f"_{text}_"}.get(cell.rank, text) + ("°" if cell.level_with_best else "")
    text += f" [{cell.left_out}]" if cell.left_out else ""
    return text if cell.published is None else f"{text} ({cell.published:.2f})"


def _legend(table: Table) -> str:
    cell = next(iter(table.cells.values()), None)
    counts = "" if cell is None else f" {cell.runs} runs on {cell.summary.splits} splits per cell."
    beside = " In parentheses: the paper's number." if any(c.published is not None for c in table.cells.values()) else ""
    return (
        f"Test {table.metric} in percent, split {first_and_others(table.splits, '`{}`')}, "
        "mean ± half the 95 % interval with the correction for overlapping splits."
        f"{counts} **Best**, _second_, ° not significantly worse than the best (5 %).{beside}"
    )

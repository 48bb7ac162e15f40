"""Tables as text: Markdown, LaTeX, CSV, JSON. Formatting happens here and nowhere else; rows keep raw numbers."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict

from chebnet2d._checks import one_of
from chebnet2d.reports.tables import Cell, Table, title_of
from chebnet2d.training.metrics import title_of_metric


def format_table(tables: Table | Sequence[Table], style: str = "markdown") -> str:
    """One table, or several one below the other (in CSV and JSON: the cells of all in one list, with raw numbers)."""
    one_of("format_table", "style", style, ("markdown", "latex", "csv", "json"))
    several = [tables] if isinstance(tables, Table) else list(tables)
    if style in ("markdown", "latex"):
        return "\n".join(_markdown(table) if style == "markdown" else _latex(table) for table in several)
    records = [
        {"method": method, "dataset": dataset, "split": table.split, "metric": cell.metric, **asdict(cell.summary)}
        | {name: getattr(cell, name) for name in ("diverged", "rank", "level_with_best", "published")}
        for table in several
        for (method, dataset), cell in table.cells.items()
    ]
    if style == "json":
        clean = [{name: None if value != value else value for name, value in record.items()} for record in records]  # no NaN
        ranks = {table.split: dict(table.ranks) for table in several}
        return json.dumps({"cells": clean, "average_ranks": ranks}, indent=2) + "\n"
    out = io.StringIO()
    if records:
        writer = csv.DictWriter(out, fieldnames=list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    return out.getvalue()


def markdown_lines(grid: Sequence[Sequence[str]]) -> list[str]:
    """A header and rows as a Markdown table."""
    header, *rows = ["| " + " | ".join(row) + " |" for row in grid]
    return [header, "|" + "---|" * len(grid[0]), *rows]


def _number(cell: Cell) -> str:
    if not cell.summary.runs:
        return "diverged"
    half = "" if cell.summary.splits < 2 else f" ± {100 * cell.summary.half_width:.2f}"
    return f"{100 * cell.summary.mean:.2f}{half}"


def _without(cell: Cell) -> str:
    """What a cell says of runs that its number leaves out."""
    return f" [{cell.diverged} diverged]" if cell.diverged and cell.summary.runs else ""


def _grid(table: Table, shown: Callable[[Cell], str]) -> list[list[str]]:
    """Header and rows."""
    grid = [["method", *table.datasets, *(["rank"] if table.ranks else [])]]
    for method in table.methods:
        cells = [table.cells.get((method, dataset)) for dataset in table.datasets]
        rank = [f"{table.ranks[method]:.2f}"] if table.ranks else []
        grid.append([title_of(method), *("" if cell is None else shown(cell) for cell in cells), *rank])
    return grid


def _markdown(table: Table) -> str:
    return "\n".join([*markdown_lines(_grid(table, _marked)), "", _legend(table)]) + "\n"


def _marked(cell: Cell) -> str:
    text = _number(cell)
    text = {1: f"**{text}**", 2: f"_{text}_"}.get(cell.rank, text) + ("°" if cell.level_with_best else "") + _without(cell)
    return text if cell.published is None else f"{text} ({cell.published:.2f})"


def _legend(table: Table) -> str:
    cell = next(iter(table.cells.values()), None)
    counts = "" if cell is None else f" {cell.summary.runs + cell.diverged} runs on {cell.summary.splits} splits per cell."
    beside = " In parentheses: the paper's number." if any(c.published is not None for c in table.cells.values()) else ""
    return (
        f"Test {_metrics(table)} in percent, split `{table.split}`, "
        "mean ± half the 95 % interval with the correction for overlapping splits."
        f"{counts} **Best**, _second_, ° not significantly worse than the best (5 %).{beside}"
    )


def _metrics(table: Table) -> str:
    """The metric; of several, the first with the others in parentheses: accuracy (ROC-AUC for tolokers)."""
    metrics = {dataset: cell.metric for (_, dataset), cell in table.cells.items()}
    first, *others = sorted(set(metrics.values())) or ["accuracy"]
    of_others = [
        f"{title_of_metric(other)} for {', '.join(sorted(d for d, m in metrics.items() if m == other))}" for other in others
    ]
    return title_of_metric(first) + (f" ({'; '.join(of_others)})" if others else "")


def _latex(table: Table) -> str:
    header, *rows = [" & ".join(row).replace("_", r"\_") + r" \\" for row in _grid(table, _latex_marked)]
    begin = rf"\begin{{tabular}}{{l{'c' * (len(table.datasets) + bool(table.ranks))}}}"
    lines = [f"% split: {table.split}", begin, r"\hline", header + r" \hline", *rows, r"\hline", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _latex_marked(cell: Cell) -> str:
    number = _number(cell).replace("±", r"\pm") + ("^\\circ" if cell.level_with_best else "")
    text = f"${number}$" if cell.summary.runs else number
    return {1: r"\textbf{%s}", 2: r"\underline{%s}"}.get(cell.rank, "%s") % text + _without(cell)

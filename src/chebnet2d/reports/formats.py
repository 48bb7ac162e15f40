"""Tables as text: Markdown, LaTeX, CSV, JSON. Formatting happens here and nowhere else; rows keep raw numbers."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from chebnet2d._checks import one_of
from chebnet2d.reports.tables import Cell, Table, title_of

FORMATS = ("markdown", "latex", "csv", "json")


def format_table(tables: Table | Sequence[Table], style: str = "markdown") -> str:
    """One table, or several one below the other (in CSV and JSON: the cells of all in one list)."""
    one_of("format_table", "style", style, FORMATS)
    several = [tables] if isinstance(tables, Table) else list(tables)
    if style in ("csv", "json"):
        return _csv(several) if style == "csv" else _json(several)
    return "\n".join(_markdown(table) if style == "markdown" else _latex(table) for table in several)


def records(table: Table) -> list[dict[str, Any]]:
    """One flat record per cell, raw numbers."""
    return [
        {
            "method": method,
            "dataset": dataset,
            "split": table.split,
            "metric": cell.metric,
            **asdict(cell.summary),
            "diverged": cell.diverged,
            "rank": cell.rank,
            "level_with_best": cell.level_with_best,
            "published": cell.published,
        }
        for (method, dataset), cell in table.cells.items()
    ]


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


# ---- Markdown ---------------------------------------------------------------------------------------------
def _markdown(table: Table) -> str:
    header, *rows = ["| " + " | ".join(row) + " |" for row in _grid(table, _marked)]
    rule = "|" + "---|" * (1 + len(table.datasets) + bool(table.ranks))
    return "\n".join([header, rule, *rows, "", _legend(table)]) + "\n"


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
    of_others = [f"{_title(other)} for {', '.join(sorted(d for d, m in metrics.items() if m == other))}" for other in others]
    return _title(first) + (f" ({'; '.join(of_others)})" if others else "")


def _title(metric: str) -> str:
    return {"roc_auc": "ROC-AUC"}.get(metric, metric.replace("_", " "))


# ---- LaTeX ------------------------------------------------------------------------------------------------
def _latex(table: Table) -> str:
    header, *rows = [" & ".join(row).replace("_", r"\_") + r" \\" for row in _grid(table, _latex_marked)]
    begin = rf"\begin{{tabular}}{{l{'c' * (len(table.datasets) + bool(table.ranks))}}}"
    lines = [f"% split: {table.split}", begin, r"\hline", header + r" \hline", *rows, r"\hline", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _latex_marked(cell: Cell) -> str:
    number = _number(cell).replace("±", r"\pm") + ("^\\circ" if cell.level_with_best else "")
    text = f"${number}$" if cell.summary.runs else number
    return {1: r"\textbf{%s}", 2: r"\underline{%s}"}.get(cell.rank, "%s") % text + _without(cell)


# ---- data -------------------------------------------------------------------------------------------------
def _csv(tables: Sequence[Table]) -> str:
    out = io.StringIO()
    rows = [record for table in tables for record in records(table)]
    if rows:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue()


def _json(tables: Sequence[Table]) -> str:
    clean = [{k: (None if v != v else v) for k, v in r.items()} for table in tables for r in records(table)]  # NaN is no JSON
    return json.dumps({"cells": clean, "average_ranks": {table.split: dict(table.ranks) for table in tables}}, indent=2) + "\n"

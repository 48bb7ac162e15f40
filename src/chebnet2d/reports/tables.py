"""Tables from a store. Formatting happens here and nowhere else; the store keeps raw numbers."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from typing import Any

from chebnet2d._checks import InputError, one_of
from chebnet2d.models import MODELS
from chebnet2d.reports.statistics import Scores, Summary, average_ranks, compare, summarize

FORMATS = ("markdown", "latex", "csv", "json")
LEVEL = 0.05


@dataclass(frozen=True)
class Cell:
    summary: Summary
    metric: str
    rank: int
    """1 = best of its dataset, 2 = second, and so on."""
    level_with_best: bool
    """Not significantly worse than the best (corrected paired test over the same splits, 5 %); False where untested."""
    published: float | None = None


@dataclass(frozen=True)
class Table:
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    split: str
    cells: Mapping[tuple[str, str], Cell]
    ranks: Mapping[str, float] = field(default_factory=dict)


def make_tables(rows: Iterable[Mapping[str, Any]], published: Mapping[str, Mapping[str, float]] | None = None) -> list[Table]:
    """One table for each way of splitting that the rows have."""
    by_split: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_split.setdefault(row["split"], []).append(row)
    return [make_table(of_split, published) for of_split in by_split.values()]


def make_table(rows: Iterable[Mapping[str, Any]], published: Mapping[str, Mapping[str, float]] | None = None) -> Table:
    """From rows of a store that have one way of splitting: numbers of different ones do not compare.

    ``published``: numbers of the paper by method and dataset, shown beside ours and never mixed.
    """
    scores: dict[tuple[str, str], dict[int, list[float]]] = {}
    shares: dict[str, float] = {}
    metrics: dict[str, str] = {}
    splits = set()
    for row in rows:
        cell = scores.setdefault((row["method"], row["dataset"]), {})
        cell.setdefault(row["split_seed"], []).append(row["test_metric"])
        shares[row["dataset"]] = row["test_nodes"] / row["train_nodes"]
        metrics[row["dataset"]] = row["metric"]
        splits.add(row["split"])
    if len(splits) > 1:
        raise InputError(
            "make_table", "rows", "one way of splitting", got=", ".join(sorted(splits)), hint="Use make_tables.", verb="have"
        )
    methods = tuple(dict.fromkeys(method for method, _ in scores))
    names = tuple(dict.fromkeys(dataset for _, dataset in scores))
    cells = {}
    for dataset in names:
        present = [method for method in methods if (method, dataset) in scores]
        summaries = {method: summarize(scores[method, dataset], shares[dataset]) for method in present}
        order = sorted(present, key=lambda method: -summaries[method].mean)
        for rank, method in enumerate(order, start=1):
            level = rank > 1 and _level(scores[order[0], dataset], scores[method, dataset], shares[dataset])
            known = (published or {}).get(method, {}).get(dataset)
            cells[method, dataset] = Cell(summaries[method], metrics[dataset], rank, level, known)
    means = {m: {d: cells[m, d].summary.mean for d in names if (m, d) in cells} for m in methods}
    return Table(methods, names, "".join(splits), cells, average_ranks(means))


def _level(best: Scores, other: Scores, share: float) -> bool:
    return len(set(best) & set(other)) > 1 and compare(best, other, share).p_value >= LEVEL


def format_table(tables: Table | Sequence[Table], style: str = "markdown") -> str:
    """One table, or several one below the other (in CSV and JSON: the cells of all in one list)."""
    one_of("format_table", "style", style, FORMATS)
    several = [tables] if isinstance(tables, Table) else list(tables)
    return {"markdown": _markdown, "latex": _latex, "csv": _csv, "json": _json}[style](several)


def published_numbers() -> dict[str, Any]:
    """The paper's tables as it prints them: table -> method (our name) -> dataset -> mean; of table 4 the seconds of an epoch."""
    return json.loads(files("chebnet2d").joinpath("reports", "published.json").read_text(encoding="utf-8"))


def title_of(method: str) -> str:
    """For people. A method of the user's own file has its name where that file is not imported."""
    name, _, variant = method.partition(":")
    return (MODELS[name].info.title if name in MODELS else name) + (f" ({variant})" if variant else "")


def _number(cell: Cell) -> str:
    half = "" if cell.summary.splits < 2 else f" ± {100 * cell.summary.half_width:.2f}"
    return f"{100 * cell.summary.mean:.2f}{half}"


def _markdown(tables: Sequence[Table]) -> str:
    return "\n".join(_markdown_of_one(table) for table in tables)


def _markdown_of_one(table: Table) -> str:
    header = ["method", *table.datasets, *(["rank"] if table.ranks else [])]
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    for method in table.methods:
        row = [title_of(method)]
        for dataset in table.datasets:
            cell = table.cells.get((method, dataset))
            row.append("" if cell is None else _marked(cell))
        if table.ranks:
            row.append(f"{table.ranks[method]:.2f}")
        lines.append("| " + " | ".join(row) + " |")
    lines += ["", _legend(table)]
    return "\n".join(lines) + "\n"


def _marked(cell: Cell) -> str:
    text = _number(cell)
    text = {1: f"**{text}**", 2: f"_{text}_"}.get(cell.rank, text) + ("°" if cell.level_with_best else "")
    return text if cell.published is None else f"{text} ({cell.published:.2f})"


def _legend(table: Table) -> str:
    roc = sorted({dataset for (_, dataset), cell in table.cells.items() if cell.metric == "roc_auc"})
    cell = next(iter(table.cells.values()), None)
    counts = "" if cell is None else f" {cell.summary.runs} runs on {cell.summary.splits} splits a cell."
    beside = " In parentheses: the paper's number." if any(c.published is not None for c in table.cells.values()) else ""
    return (
        f"Test {'accuracy' if not roc else 'accuracy (ROC-AUC for ' + ', '.join(roc) + ')'} in percent, split `{table.split}`, "
        "mean ± half the 95 % interval with the correction for overlapping splits."
        f"{counts} **Best**, _second_, ° not significantly worse than the best (5 %).{beside}"
    )


def _latex(tables: Sequence[Table]) -> str:
    return "\n".join(f"% split: {table.split}\n{_latex_of_one(table)}" for table in tables)


def _latex_of_one(table: Table) -> str:
    header = " & ".join(["method", *(d.replace("_", r"\_") for d in table.datasets), *(["rank"] if table.ranks else [])])
    lines = [rf"\begin{{tabular}}{{l{'c' * (len(table.datasets) + bool(table.ranks))}}}", r"\hline", header + r" \\ \hline"]
    for method in table.methods:
        row = [title_of(method)]
        for dataset in table.datasets:
            cell = table.cells.get((method, dataset))
            text = (
                ""
                if cell is None
                else "$" + _number(cell).replace("±", r"\pm") + ("^\\circ" if cell.level_with_best else "") + "$"
            )
            wrap = {1: r"\textbf{%s}", 2: r"\underline{%s}"}.get(cell.rank if cell else 0, "%s")
            row.append(wrap % text)
        if table.ranks:
            row.append(f"{table.ranks[method]:.2f}")
        lines.append(" & ".join(row) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}"]) + "\n"


def records(table: Table) -> list[dict[str, Any]]:
    """One flat record a cell, raw numbers."""
    return [
        {
            "method": method,
            "dataset": dataset,
            "split": table.split,
            "metric": cell.metric,
            **asdict(cell.summary),
            "rank": cell.rank,
            "level_with_best": cell.level_with_best,
            "published": cell.published,
        }
        for (method, dataset), cell in table.cells.items()
    ]


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

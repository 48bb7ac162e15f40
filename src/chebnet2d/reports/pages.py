"""A page about a study: text, tables, where settings come from, and reasons for cells that lie far below the paper's.

Text and reasons are a TOML file, reasons in one table per method; ``default`` holds for datasets that are not named,
``[default]`` for other methods. ``{split method dataset}`` stands for the mean of that cell, so that sentences follow the runs::

    [page]
    intro = "GCN has {uniform gcn cora} on Cora."

    [gcn]
    texas = "the paper's own deviation there is 10.8 points"
    default = "one published setting for all graphs"
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.recipes.files import read_toml
from chebnet2d.recipes.recipe import SEARCHED
from chebnet2d.reports.formats import format_table, markdown_lines
from chebnet2d.reports.tables import Table, title_of

POINTS = 3.0
"""How far below the paper, in points of percent, calls for a reason."""
Notes = Mapping[str, Mapping[str, str]]
"""Method -> dataset -> reason; either may be ``default``, which holds for those that are not named."""


def make_page(tables: Sequence[Table], rows: Iterable[Mapping[str, Any]], notes: Notes) -> str:
    """Markdown; ``tables`` are those of ``rows``."""
    intro = notes.get("page", {}).get("intro", "")
    parts = [intro, format_table(tables), describe_gaps(tables), describe_origins(rows), describe_shortfalls(tables, notes)]
    means = {
        f"{{{table.split} {method} {dataset}}}": f"{100 * cell.summary.mean:.2f}"
        for table in tables
        for (method, dataset), cell in table.cells.items()
        if cell.summary.runs
    }

    def mean(found: re.Match[str]) -> str:
        if found[0] not in means:
            rule = "a split, a method and a dataset with finished runs"
            raise InputError("make_page", f"{found[0]} in the notes", rule, got="none", verb="name")
        return means[found[0]]

    return re.sub(r"\{\S+ \S+ \S+\}", mean, "\n".join(part for part in parts if part))


def read_notes(path: str | Path) -> Notes:
    notes = read_toml("read_notes", "notes", path)
    for method, table in notes.items():
        if not isinstance(table, dict) or not all(isinstance(reason, str) for reason in table.values()):
            raise InputError("read_notes", f"every table of {str(path)!r}", "datasets to sentences", method, verb="map")
    return notes


def describe_gaps(tables: Sequence[Table]) -> str:
    """Ours minus the paper's by dataset and kind of split, over the methods that every table has there."""
    grid = [["dataset", "methods", *(table.split for table in tables)]]
    for dataset in dict.fromkeys(dataset for table in tables for dataset in table.datasets):
        gaps = [{m: cell.gap for m, cell in table.column(dataset).items() if cell.gap is not None} for table in tables]
        if shared := set.intersection(*map(set, gaps)):
            cells = [[of_split[method] for method in shared] for of_split in gaps]
            means = [f"{fmean(cell):+.1f} ({fmean(map(abs, cell)):.1f})" for cell in cells]
            grid.append([dataset, str(len(shared)), *means])
    legend = "Points of percent, mean over the methods; in parentheses the mean of absolute values."
    return _section("Ours minus the paper's", *markdown_lines(grid), "", legend)


def kind_of(origin: str) -> str:
    """p: published for this dataset; s: searched; d: the method's default. The beginning of a recipe's origin says it."""
    return "s" if origin.startswith(SEARCHED) else "d" if origin.startswith(("default", "no default", "none")) else "p"


def describe_origins(rows: Iterable[Mapping[str, Any]]) -> str:
    """Where the settings of each cell come from: a letter for each method and dataset."""
    found = {(row["method"], row["dataset"]): kind_of(row["config"]["origin"]) for row in rows}
    datasets = list(dict.fromkeys(dataset for _, dataset in found))
    methods = dict.fromkeys(method for method, _ in found)
    grid = [[title_of(method), *(found.get((method, dataset), "") for dataset in datasets)] for method in methods]
    legend = (
        "p: published for this dataset by the method's authors; s: searched here, by validation nodes; d: the method's default."
    )
    return _section("Where the settings come from", *markdown_lines([["method", *datasets], *grid]), "", legend)


def describe_shortfalls(tables: Sequence[Table], notes: Notes) -> str:
    """A line for each cell far below the paper's in one of the tables, with ours of all tables; methods as in the tables."""
    short = {
        key: cell.published
        for table in tables
        for key, cell in table.cells.items()
        if cell.gap is not None and cell.gap < -POINTS
    }
    order = [method for table in tables for method in table.methods]
    lines = []
    for (method, dataset), published in sorted(short.items(), key=lambda found: order.index(found[0][0])):
        cells = {table.split: table.cells[method, dataset] for table in tables if (method, dataset) in table.cells}
        ours = ", ".join(f"{split} {100 * cell.summary.mean:.2f}" for split, cell in cells.items())
        reason = _reason(notes, method, dataset)
        lines.append(f"- {title_of(method)} on {dataset} ({ours}; paper {published:.2f}): {reason}.")
    return _section(f"Cells more than {POINTS:g} points below the paper's", *(lines or ["None."]))


def _reason(notes: Notes, method: str, dataset: str) -> str:
    tables = [notes.get(name, {}) for name in (method, "default")]
    reasons = [table[name] for table in tables for name in (dataset, "default") if name in table]
    return reasons[0].rstrip(".") if reasons else "not looked into"


def _section(title: str, *lines: str) -> str:
    return "\n".join([f"## {title}", "", *lines]) + "\n"

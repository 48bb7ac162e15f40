"""A page about a study: text, protocol, budgets, tables, comparisons, and reasons for cells that lie far below the paper's.

Text and reasons are a TOML file, reasons in one table per method; ``default`` holds for datasets that are not named,
``[default]`` for other methods. ``{split method dataset}`` stands for the mean of that cell, so that sentences follow the runs::

    [page]
    intro = "GCN has {uniform gcn cora} on Cora."

    [gcn]
    texas = "the paper's own deviation there is 10.8 points"
    default = "one published setting for all graphs"
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from chebnet2d._checks import InputError
from chebnet2d.recipes.files import read_toml
from chebnet2d.reports.comparisons import compare_all
from chebnet2d.reports.formats import format_table
from chebnet2d.reports.scores import Row
from chebnet2d.reports.sections.against_paper import Notes, describe_excesses, describe_gaps, describe_shortfalls
from chebnet2d.reports.sections.comparisons import describe_comparisons, describe_ranks, describe_trials
from chebnet2d.reports.sections.protocol import (
    describe_budgets,
    describe_choices,
    describe_limits,
    describe_origins,
    describe_protocol,
)
from chebnet2d.reports.tables import Table


def make_page(tables: Sequence[Table], rows: Iterable[Row], notes: Notes, reference: str | None = None) -> str:
    """Markdown; ``tables`` are those of ``rows``. ``reference``: the method that all others are compared with."""
    rows = list(rows)
    parts = [
        notes.get("page", {}).get("intro", ""),
        describe_protocol(rows),
        describe_budgets(rows),
        "## Results\n",
        format_table(tables),
        describe_comparisons(compare_all(rows, reference)) if reference else "",
        describe_ranks(rows),
        describe_trials(rows),
        describe_limits(rows),
        describe_origins(rows),
        describe_choices(rows),
    ]
    if any(cell.published is not None for table in tables for cell in table.cells.values()):
        parts += [describe_gaps(tables), describe_shortfalls(tables, notes), describe_excesses(tables)]
    kinds = {kind for table in tables for kind in table.splits.values()}
    means = {
        f"{{{table.splits[dataset]} {method} {dataset}}}": f"{100 * cell.summary.mean:.2f}"
        for table in tables
        for (method, dataset), cell in table.cells.items()
        if cell.summary.runs
    }

    def mean(found: re.Match[str]) -> str:
        if found[1] not in kinds:
            return found[0]  # braces that mean something else
        if found[0] not in means:
            rule = "a split, a method and a dataset with finished runs"
            raise InputError("make_page", f"{found[0]} in the notes", rule, got="none", verb="name")
        return means[found[0]]

    return re.sub(r"\{(\S+) [^{}]+ \S+\}", mean, "\n".join(part for part in parts if part))


def read_notes(path: str | Path) -> Notes:
    """Sentences for a page from a TOML file: method -> dataset -> reason."""
    notes = read_toml("read_notes", "notes", path)
    for method, table in notes.items():
        if not isinstance(table, dict) or not all(isinstance(reason, str) for reason in table.values()):
            raise InputError("read_notes", f"every table of {str(path)!r}", "datasets to sentences", method, verb="map")
    return notes

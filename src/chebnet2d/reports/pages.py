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
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.recipes.toml_files import read_toml
from chebnet2d.reports.formats import format_table
from chebnet2d.reports.origins import describe_origins
from chebnet2d.reports.shortfalls import Notes, describe_gaps, describe_shortfalls
from chebnet2d.reports.tables import Table

_CELL = re.compile(r"\{\S+ \S+ \S+\}")


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

    return _CELL.sub(mean, "\n".join(part for part in parts if part))


def read_notes(path: str | Path) -> Notes:
    notes = read_toml("read_notes", "notes", path)
    for method, table in notes.items():
        if not isinstance(table, dict) or not all(isinstance(reason, str) for reason in table.values()):
            raise InputError("read_notes", f"every table of {str(path)!r}", "datasets to sentences", method, verb="map")
    return notes

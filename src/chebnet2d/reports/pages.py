"""A page about a study: text, tables, where settings come from, and reasons for cells that lie far below the paper's.

Text and reasons are a TOML file, reasons one table a method; ``default`` holds for datasets that are not named, ``[default]`` for
other methods. ``{split method dataset}`` stands for the mean of that cell, so that no number in a sentence grows old::

    [page]
    intro = "GCN has {uniform gcn cora} on Cora."

    [gcn]
    texas = "the paper's own deviation there is 10.8 points"
    default = "one published setting for all graphs"
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.reports.origins import describe_origins
from chebnet2d.reports.shortfalls import Notes, describe_gaps, describe_shortfalls
from chebnet2d.reports.tables import Table, format_table

_CELL = re.compile(r"\{\S+ \S+ \S+\}")


def make_page(tables: Sequence[Table], rows: Iterable[Mapping[str, Any]], notes: Notes) -> str:
    """Markdown; ``tables`` are those of ``rows``."""
    intro = notes.get("page", {}).get("intro", "")
    parts = [intro, format_table(tables), describe_gaps(tables), describe_origins(rows), describe_shortfalls(tables, notes)]
    means = {
        f"{{{table.split} {method} {dataset}}}": f"{100 * cell.summary.mean:.2f}"
        for table in tables
        for (method, dataset), cell in table.cells.items()
    }

    def mean(found: re.Match[str]) -> str:
        if found[0] not in means:
            raise InputError(
                f"study table: {found[0]} in --notes must name a split, a method and a dataset with finished runs, got none."
            )
        return means[found[0]]

    return _CELL.sub(mean, "\n".join(part for part in parts if part))


def read_notes(path: Path) -> Notes:
    try:
        notes = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"study table: --notes must be a TOML file, got {str(path)!r}, which does not exist.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"study table: --notes must be a TOML file, got {str(path)!r}: {error}.") from None
    for method, table in notes.items():
        if not isinstance(table, dict) or not all(isinstance(reason, str) for reason in table.values()):
            raise InputError(f"study table: every table of {str(path)!r} must map datasets to sentences, got {method!r}.")
    return notes

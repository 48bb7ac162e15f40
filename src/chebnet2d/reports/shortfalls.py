"""How far cells lie from the paper's: on the whole, and those far below it, each with a reason where one is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from chebnet2d.reports.tables import Table, title_of

POINTS = 3.0
"""How far below, in points of percent, calls for a reason."""

Notes = Mapping[str, Mapping[str, str]]
"""Method -> dataset -> reason; either may be ``default``, which holds for those that are not named."""
NO_REASON = "not looked into"


@dataclass(frozen=True)
class Shortfall:
    method: str
    dataset: str
    published: float
    ours: Mapping[str, float]
    """Percent, by kind of split; all of them, if one falls short."""


def find_shortfalls(tables: Sequence[Table], points: float = POINTS) -> list[Shortfall]:
    found = {}
    for table in tables:
        for (method, dataset), cell in table.cells.items():
            if cell.published is not None and 100 * cell.summary.mean < cell.published - points:
                cells = {other.split: other.cells[method, dataset] for other in tables if (method, dataset) in other.cells}
                ours = {kind: 100 * known.summary.mean for kind, known in cells.items()}
                found[method, dataset] = Shortfall(method, dataset, cell.published, ours)
    return list(found.values())


def describe_shortfalls(tables: Sequence[Table], notes: Notes, points: float = POINTS) -> str:
    """Markdown: a line for each cell, methods in the order of the table."""
    found = find_shortfalls(tables, points)
    lines = [f"## Cells more than {points:g} points below the paper's", ""]
    if not found:
        return "\n".join([*lines, "None."]) + "\n"
    order = [method for table in tables for method in table.methods]
    for one in sorted(found, key=lambda one: order.index(one.method)):
        ours = ", ".join(f"{split} {score:.2f}" for split, score in one.ours.items())
        lines.append(f"- {title_of(one.method)} on {one.dataset} ({ours}; paper {one.published:.2f}): {_reason(one, notes)}.")
    return "\n".join(lines) + "\n"


def describe_gaps(tables: Sequence[Table]) -> str:
    """Markdown: ours minus the paper's by dataset and kind of split, over the methods that every table has there."""
    lines = ["## Ours minus the paper's", "", f"| dataset | methods | {' | '.join(table.split for table in tables)} |"]
    lines.append("|" + "---|" * (len(tables) + 2))
    for dataset in dict.fromkeys(dataset for table in tables for dataset in table.datasets):
        gaps = [_gaps(table, dataset) for table in tables]
        shared = set.intersection(*(set(of_split) for of_split in gaps))
        if shared:
            cells = [[of_split[method] for method in shared] for of_split in gaps]
            means = (f"{fmean(cell):+.1f} ({fmean(map(abs, cell)):.1f})" for cell in cells)
            lines.append(f"| {dataset} | {len(shared)} | {' | '.join(means)} |")
    return "\n".join([*lines, "", "Points of percent, mean over the methods; in parentheses the mean of absolute values."]) + "\n"


def _gaps(table: Table, dataset: str) -> dict[str, float]:
    return {
        method: 100 * cell.summary.mean - cell.published
        for method, cell in table.column(dataset).items()
        if cell.published is not None and cell.summary.runs
    }


def _reason(one: Shortfall, notes: Notes) -> str:
    for method in (one.method, "default"):
        for dataset in (one.dataset, "default"):
            if dataset in notes.get(method, {}):
                return notes[method][dataset].rstrip(".")
    return NO_REASON

"""Ours beside the paper's: how far, and which cells lie far below or above."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from chebnet2d.reports.markdown import markdown_lines, section
from chebnet2d.reports.scores import title_of
from chebnet2d.reports.tables import Table

POINTS = 3.0
"""How far from the paper, in points of percent, is far. Below it calls for a reason."""
Notes = Mapping[str, Mapping[str, str]]
"""Method -> dataset -> reason; either may be ``default``, which holds for those that are not named."""


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
    return section("Ours minus the paper's", *markdown_lines(grid), "", legend)


def describe_shortfalls(tables: Sequence[Table], notes: Notes) -> str:
    """A line for each cell far below the paper's in one of the tables, with ours of all tables; methods as in the tables."""
    lines = [
        f"- {title_of(method)} on {dataset} {_numbers(tables, method, dataset)}: {_reason(notes, method, dataset)}."
        for method, dataset in _far(tables, below=True)
    ]
    return section(f"Cells more than {POINTS:g} points below the paper's", *(lines or ["None."]))


def describe_excesses(tables: Sequence[Table]) -> str:
    """A line for each method with cells far above the paper's in one of the tables."""
    by_method: dict[str, list[str]] = {}
    for method, dataset in _far(tables, below=False):
        by_method.setdefault(method, []).append(f"{dataset} {_numbers(tables, method, dataset)}")
    lines = [f"- {title_of(method)}: {', '.join(cells)}." for method, cells in by_method.items()]
    return section(f"Cells more than {POINTS:g} points above the paper's", *(lines or ["None."]))


def _far(tables: Sequence[Table], *, below: bool) -> list[tuple[str, str]]:
    """Cells by method, in the order of the tables."""
    far = {
        key: None
        for table in tables
        for key, cell in table.cells.items()
        if cell.gap is not None and (cell.gap < -POINTS if below else cell.gap > POINTS)
    }
    order = [method for table in tables for method in table.methods]
    return sorted(far, key=lambda key: order.index(key[0]))


def _numbers(tables: Sequence[Table], method: str, dataset: str) -> str:
    cells = {table.splits[dataset]: table.cells[method, dataset] for table in tables if (method, dataset) in table.cells}
    ours = ", ".join(f"{split} {100 * cell.summary.mean:.2f}" for split, cell in cells.items() if cell.summary.runs)
    published = next(cell.published for cell in cells.values() if cell.published is not None)
    return f"({ours}; paper {published:.2f})"


def _reason(notes: Notes, method: str, dataset: str) -> str:
    tables = [notes.get(name, {}) for name in (method, "default")]
    reasons = [table[name] for table in tables for name in (dataset, "default") if name in table]
    return reasons[0].rstrip(".") if reasons else "not looked into"

"""Tables on stdout. Where it is a file or a pipe they keep their width: columns that vanish are worse than long lines."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

_WIDTH = 200  # where stdout is no terminal
_BEYOND = 1000


def make_table(*columns: str, left: Collection[str] | None = None, title: str = "", fold: bool = False) -> Any:
    """An empty table. Columns are right-aligned but the first, or but those in ``left``; with ``fold`` long words wrap."""
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", title_style="bold", box=SIMPLE, pad_edge=False)
    for column in columns:
        aligned = column in (columns[:1] if left is None else left)
        table.add_column(column, justify="left" if aligned else "right", no_wrap=not fold, overflow="fold")
    return table


def console(width: int = _WIDTH) -> Any:
    """A console on stdout; ``width``: where that is no terminal. Square brackets are plain text."""
    from rich.console import Console

    found = Console(markup=False, highlight=False)
    return found if found.is_terminal else Console(markup=False, highlight=False, width=width)


def print_table(table: Any, droppable: Collection[str] = (), width: int = _WIDTH) -> list[str]:
    """Where the terminal is narrow, columns are left out in the order of ``droppable`` and returned.

    Numbers are never cut: lines rather wrap.
    """
    shown, wide = console(width), console(_BEYOND)
    wide.width = _BEYOND
    left_out = []
    for column in droppable:
        if wide.measure(table).maximum <= shown.width:
            break
        table.columns = [kept for kept in table.columns if kept.header != column]
        left_out.append(column)
    if all(column.no_wrap for column in table.columns):
        shown.width = max(shown.width, wide.measure(table).maximum)
    shown.print(table)
    return left_out


def number(value: Any) -> str:
    """1,234 or 0.1235; nothing for None."""
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}"


def pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in values.items())


def print_status(store: Path) -> None:
    """Runs of a study, done and planned."""
    from chebnet2d.study import Store

    with Store(store, create=False) as opened:
        cells = opened.progress()
    title = f"{store}: {sum(c['done'] for c in cells)} of {sum(c['runs'] for c in cells)} runs done"
    table = make_table("method", "dataset", "done", "planned", "stacks in work", left=("method", "dataset"), title=title)
    for cell in cells:
        table.add_row(cell["method"], cell["dataset"], str(cell["done"]), str(cell["runs"]), str(cell["working"] or ""))
    print_table(table)

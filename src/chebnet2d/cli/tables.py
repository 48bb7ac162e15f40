"""Tables on stdout. Where it is a file or a pipe they keep their width: columns that vanish are worse than long lines."""

from collections.abc import Collection, Mapping, Sequence
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
    """Runs of a study, done and planned, what its search has cost, and who works on the rest."""
    from chebnet2d.study import Store

    with Store(store, create=False) as opened:
        cells, holders, budgets = opened.progress(), opened.holders(), opened.budgets()
    title = f"{store}: {sum(c['done'] for c in cells)} of {sum(c['runs'] for c in cells)} runs done"
    table = make_table(
        "method", "dataset", "done", "planned", "diverged", "units in work", left=("method", "dataset"), title=title
    )
    for cell in cells:
        counts = [str(cell["done"]), str(cell["runs"]), str(cell["diverged"] or ""), str(cell["working"] or "")]
        table.add_row(cell["method"], cell["dataset"], *counts)
    print_table(table)
    if budgets:
        columns = ("method", "trials done", "planned", "left at rungs", "epochs")
        spent = make_table(*columns, title="search (a point counts on each split)")
        for one in budgets:
            spent.add_row(one["method"], *(number(one[name]) for name in ("done", "planned", "left", "epochs")))
        print_table(spent)
    if holders:
        names = ("unit", "method", "dataset", "host", "pid", "since", "until")
        held = make_table(*names, left=names, title="claims, which end unless they are renewed")
        for holder in holders:
            held.add_row(*(str(holder[name]) for name in names))
        print_table(held)


def print_status_json(store: Path) -> None:
    from chebnet2d.cli.console import print_json
    from chebnet2d.study import Store

    with Store(store, create=False) as opened:
        cells, claims, budgets = opened.progress(), opened.holders(), opened.budgets()
    totals = {name: sum(cell[name] for cell in cells) for name in ("runs", "done", "diverged")}
    print_json({"cells": cells, "claims": claims, **totals, "search": budgets})


def print_estimates(estimates: Sequence[Any], workers: int) -> None:
    """What a study would cost, by method and dataset."""
    names = ("method", "dataset", "runs", "units", "epochs", "s per epoch", "time at most", "peak MiB")
    seconds = sum(one.seconds for one in estimates) / workers
    runs, units = (sum(getattr(one, name) for one in estimates) for name in ("runs", "units"))
    side = f", {workers} workers side by side" if workers > 1 else ""
    title = f"{runs} runs in {units} units: at most {duration(seconds)}{side}; runs that stop early take less"
    table = make_table(*names, left=("method", "dataset"), title=title)
    for one in estimates:
        counts = [str(one.runs), str(one.units), str(one.epochs)]
        measured = ["", "", ""]
        if one.epoch_seconds is not None:
            measured = [f"{one.epoch_seconds:.3g}", duration(one.seconds), f"{one.peak_mib:.0f}"]
        table.add_row(one.method, one.dataset, *counts, *measured)
    print_table(table)


def duration(seconds: float) -> str:
    """
    >>> duration(59), duration(3661), duration(200000)
    ('59 s', '1 h 01 min', '2 d 07 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours < 24 else f"{hours // 24} d {hours % 24:02} h"

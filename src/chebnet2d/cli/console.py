"""What the commands share: where text goes, progress bars, and one JSON object on stdout."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def print_json(value: dict[str, Any]) -> None:
    """One object, and nothing else, on stdout."""
    json.dump(value, sys.stdout, indent=2, sort_keys=True)
    sys.stdout.write("\n")


def say(text: str, *, quiet: bool = False) -> None:
    """A line for people. With --json, stdout belongs to the object, and this is silent."""
    if not quiet:
        print(text)


@contextmanager
def training_progress(quiet: bool) -> Iterator[Any]:
    """A progress bar on stderr that appears after a second; nothing when stderr is not a terminal or ``quiet``."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    import time

    started = time.perf_counter()
    columns = (TextColumn("training"), BarColumn(), TextColumn("epoch {task.completed} of at most {task.total}"))
    bar = Progress(
        *columns, TextColumn("best validation {task.fields[best]:.4f}"), TimeElapsedColumn(), console=console, transient=True
    )
    task: Any = None

    def report(progress: Any) -> None:
        nonlocal task
        if task is None:
            if time.perf_counter() - started < 1.0:
                return
            bar.start()
            task = bar.add_task("training", total=progress.epochs, best=0.0)
        bar.update(task, completed=progress.epoch, best=progress.best_val_metric)

    try:
        yield report
    finally:
        if task is not None:
            bar.stop()

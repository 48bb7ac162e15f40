"""What the commands share: where text goes, progress bars, and one JSON object on stdout."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
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
def cluster_news() -> Iterator[None]:
    """While a cluster works: what Ray says of nodes that die goes to stderr. It prints to stdout, which is for results."""
    with redirect_stdout(sys.stderr):
        yield


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


@contextmanager
def study_progress() -> Iterator[Any]:
    """Runs done, epochs a second and time left, on stderr; nothing when it is not a terminal."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    started = time.perf_counter()
    shown = Progress(
        TextColumn("runs"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )
    with shown:
        task = shown.add_task("")

        def report(progress: Any) -> None:
            speed = progress.epochs_done / max(time.perf_counter() - started, 1e-9)
            words = [f"{progress.unit.method} on {progress.unit.dataset}"] if progress.unit else []
            words += [f"epoch {progress.epoch.epoch}, {progress.epoch.active} runs in the stack"] if progress.epoch else []
            words += [f"{speed:.0f} epochs/s"] if speed >= 1 else []
            shown.update(task, total=progress.runs, completed=progress.runs_done, description=", ".join(words))

        yield report


@contextmanager
def log_lines(path: Path | None) -> Iterator[Any]:
    """A function that appends a line with the time to a file, at once; None without a file."""
    import time

    if path is None:
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", buffering=1) as file:
        yield lambda text: file.write(time.strftime("%Y-%m-%d %H:%M:%S ") + text + "\n")

"""Progress bars: on stderr, after a second, and gone at the end; none where stderr is no terminal.

A bar is given by a function from what the library reports to a ``Step``.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

_DELAY = 1.0


class Step(NamedTuple):
    title: str
    done: float
    total: float | None
    text: str = ""


@contextmanager
def progress_bar(step: Callable[..., Step], *columns: str, quiet: bool = False) -> Iterator[Callable[..., None] | None]:
    """The function to hand to the library as ``progress``, or None. ``columns``: more classes of ``rich.progress``."""
    from rich import progress as rich_progress
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    parts: list[Any] = [rich_progress.TextColumn("{task.description}"), rich_progress.BarColumn()]
    parts += [getattr(rich_progress, column)() for column in columns]
    parts += [rich_progress.TextColumn("{task.fields[text]}"), rich_progress.TimeElapsedColumn()]
    bar = rich_progress.Progress(*parts, console=console, transient=True)
    tasks: dict[str, Any] = {}
    begin = time.perf_counter() + _DELAY

    def report(*facts: Any) -> None:
        title, done, total, text = step(*facts)
        if time.perf_counter() < begin:
            return
        bar.start()
        if title not in tasks:
            tasks[title] = bar.add_task(title, total=total, text=text)
        bar.update(tasks[title], completed=done, total=total, text=text)

    try:
        yield report
    finally:
        bar.stop()


def training_step(progress: Any) -> Step:
    text = f"epoch {progress.epoch} of at most {progress.epochs}, best validation {progress.best_val_metric:.4f}"
    return Step("training", progress.epoch, progress.epochs, text)


def precompute_step(progress: Any) -> Step:
    return Step("bases", progress.done, progress.total, f"block {progress.block + 1} of {progress.blocks}")


def download_step(file: str, done: int, total: int | None) -> Step:
    return Step(file, done, total)


def search_step(progress: Any) -> Step:
    """Trials, the best score and what is left of the budget."""
    words = [f"{progress.trials} trials"]
    if progress.in_training:
        epoch = "" if progress.epoch is None else f", epoch {progress.epoch.epoch}"
        words.append(f"{progress.in_training} in training{epoch}")
    if progress.best is not None:
        words.append(f"best validation {progress.best:.4f}")
    budget = progress.budget
    done, total = (progress.seconds, budget.seconds) if budget.seconds else (progress.trials, budget.trials)
    return Step("search", done, total, ", ".join(words))


def study_step() -> Callable[[Any], Step]:
    """Runs done and epochs per second since now."""
    started = time.perf_counter()

    def step(progress: Any) -> Step:
        speed = progress.epochs_done / max(time.perf_counter() - started, 1e-9)
        words = [f"{progress.unit.method} on {progress.unit.dataset}"] if progress.unit else []
        words += [f"epoch {progress.epoch.epoch}, {progress.epoch.active} runs in the stack"] if progress.epoch else []
        words += [f"{speed:.0f} epochs/s"] if speed >= 1 else []
        return Step("runs", progress.runs_done, progress.runs, ", ".join(words))

    return step


def theory_step() -> Callable[[Any], Step]:
    """A count of lines, whose number is not known before, and the current section."""
    count = 0

    def step(claim: Any) -> Step:
        nonlocal count
        count += 1
        return Step("theory", count, None, f"{count} lines, {claim.section}")

    return step

"""Progress: a bar on stderr, after a second, and gone at the end. Where stderr is no terminal, long work of some commands has
lines instead: after five seconds, ten, twenty, ..., each with an estimate of what is left.

A bar is given by a function from what the library reports to a ``Step``.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

_DELAY = 1.0
_FIRST_LINE = 5.0


class Step(NamedTuple):
    title: str
    done: float
    total: float | None
    text: str = ""
    before: float = 0
    """Of what is done, the part that an earlier process did."""


@contextmanager
def progress_bar(
    step: Callable[..., Step], *columns: str, quiet: bool = False, lines: bool = False
) -> Iterator[Callable[..., None] | None]:
    """The function to hand to the library as ``progress``, or None.

    ``columns``: more classes of ``rich.progress``. ``lines``: tell it in lines where there is no terminal for a bar.
    """
    from rich import progress as rich_progress
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield _in_lines(step) if lines and not quiet else None
        return
    parts: list[Any] = [rich_progress.TextColumn("{task.description}"), rich_progress.BarColumn()]
    parts += [getattr(rich_progress, column)() for column in columns]
    parts += [rich_progress.TextColumn("{task.fields[text]}"), rich_progress.TimeElapsedColumn()]
    bar = rich_progress.Progress(*parts, console=console, transient=True)
    tasks: dict[str, Any] = {}
    begin = time.perf_counter() + _DELAY

    def report(*facts: Any) -> None:
        title, done, total, text, _ = step(*facts)
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


def _in_lines(step: Callable[..., Step], clock: Callable[[], float] = time.perf_counter) -> Callable[..., None]:
    """Lines on stderr, each after twice the time of the one before."""
    begin = clock()
    due = _FIRST_LINE

    def report(*facts: Any) -> None:
        nonlocal due
        spent = clock() - begin
        if spent < due:
            return
        due = max(2 * due, spent)
        title, done, total, text, before = step(*facts)
        own = done - before
        left = f"; {text_of_seconds(spent * (total - done) / own)} left at most" if total and own else ""
        print(f"{title}: {text}, {text_of_seconds(spent)} so far{left}", file=sys.stderr, flush=True)

    return report


def text_of_seconds(seconds: float) -> str:
    """
    >>> text_of_seconds(5), text_of_seconds(130), text_of_seconds(9000)
    ('5 s', '2 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def training_step(progress: Any) -> Step:
    text = f"epoch {progress.epoch} of at most {progress.epochs}, best validation {progress.best_val_metric:.4f}"
    return Step("training", progress.epoch, progress.epochs, text, progress.resumed)


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


def auto_step(progress: Any) -> Step:
    """Candidates, what is in training, the best so far and what is left of the budget."""
    words = [f"{progress.finished} candidates", f"in training: {progress.training}"]
    if progress.epoch is not None:
        words[-1] += f", epoch {progress.epoch.epoch}"
    if progress.best is not None:
        words.append("best: {} {:.4f}".format(*progress.best))
    budget = progress.budget
    done, total = (progress.seconds, budget.seconds) if budget.seconds else (progress.finished, budget.trials)
    return Step("auto", done, total, ", ".join(words))


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


def estimate_step(number: int, total: int, unit: Any) -> Step:
    return Step("measuring", number, total, f"{unit.method} on {unit.dataset}")


def theory_step() -> Callable[[Any], Step]:
    """A count of lines, whose number is not known before, and the current section."""
    count = 0

    def step(claim: Any) -> Step:
        nonlocal count
        count += 1
        return Step("theory", count, None, f"{count} lines, {claim.section}")

    return step

"""Where text goes: results to stdout, one JSON object alone if asked for, everything else to stderr or a log."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any


def print_json(value: Mapping[str, Any]) -> None:
    """One object, and nothing else, on stdout."""
    json.dump(value, sys.stdout, indent=2, sort_keys=True)
    sys.stdout.write("\n")


def say(text: str, *, quiet: bool = False) -> None:
    """A line for people. With --json, stdout belongs to the object, and this is silent."""
    if not quiet:
        print(text)


def say_scores(result: Any, *, quiet: bool = False) -> None:
    """Validation, then the dataset's own metric on the test nodes, and accuracy."""
    say(f"validation {result.metric} {result.val_metric:.4f} at epoch {result.best_epoch} of {result.epochs}", quiet=quiet)
    from chebnet2d.training.metrics import title_of_metric

    facts = f"(split {result.split.name}, seed {result.seed}, {result.seconds:.1f} s)"
    for name in dict.fromkeys((result.metric, "accuracy")):
        if name in result.test:
            say(f"test {title_of_metric(name)} {100 * result.test[name]:.2f} %  {facts}", quiet=quiet)


def finish(model: Any, record: dict[str, Any], save: Path | None, as_json: bool) -> None:
    """Save a trained model with its record, if asked to; print the record, if that is asked for."""
    from chebnet2d.models import save as save_model

    if save is not None:
        save_model(model, save, facts=record)
        record = {**record, "saved": str(save)}
        say(f"model saved in {save}", quiet=as_json)
    if as_json:
        print_json(record)


@contextmanager
def connected_to(address: str | None) -> Iterator[None]:
    """Connected to a Ray cluster, if there is an address. What Ray prints on stdout, which is for results, goes to stderr."""
    if address is None:
        yield
        return
    from chebnet2d.cluster import connected

    with redirect_stdout(sys.stderr), connected(address):
        yield


@contextmanager
def log_lines(path: Path | None) -> Iterator[Callable[[str], Any] | None]:
    """A function that appends a line with the time to a file, at once; None without a file."""
    import time

    if path is None:
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", buffering=1) as file:
        yield lambda text: file.write(time.strftime("%Y-%m-%d %H:%M:%S ") + text + "\n")

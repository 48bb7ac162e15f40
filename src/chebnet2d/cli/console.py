"""Where text goes: results to stdout, one JSON object alone if asked for, everything else to stderr or a log."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

_LOG = "# chebnet2d log"
_CONFUSED = 12  # classes of a confusion matrix that people can read


def print_json(value: Mapping[str, Any]) -> None:
    """One object, and nothing else, on stdout."""
    from chebnet2d._json import to_json

    sys.stdout.write(to_json(value, indent=2, sort_keys=True) + "\n")


def say(text: str, *, quiet: bool = False) -> None:
    """A line for people. With --json, stdout belongs to the object, and this is silent."""
    if not quiet:
        print(text)


def notice(text: str) -> None:
    """A line beside the work, on stderr: stdout and the bar stay as they are."""
    print(f"chebnet2d: {text}", file=sys.stderr)


def say_scores(result: Any, *, quiet: bool = False) -> None:
    """Validation, then the dataset's own metric on the test nodes, and accuracy. That a run diverged is said in any case."""
    import math

    from chebnet2d.training.metrics import shown_value, title_of_metric

    score = f"{result.val_metric:.4f}" if math.isfinite(result.val_metric) else "undefined"
    say(f"validation {result.metric} {score} at epoch {result.best_epoch} of {result.epochs}", quiet=quiet)
    facts = f"(split {result.split.name}, seed {result.seed}, {result.seconds:.1f} s)"
    for name in dict.fromkeys((result.metric, "accuracy")):
        if name in result.test:
            value = result.test[name]
            shown = shown_value(name, value) if math.isfinite(value) else "undefined"
            say(f"test {title_of_metric(name)} {shown}  {facts}", quiet=quiet)
    if result.diverged is not None:
        kept = f"Epoch {result.best_epoch} is kept. " if math.isfinite(result.val_loss) else ""
        text = f"the run diverged: its loss is not a number from epoch {result.diverged} on."
        print(f"chebnet2d: {text} {kept}A lower learning rate may help.", file=sys.stderr)


def say_report(report: Any, metric: str, threshold: float | None, temperature: float | None) -> None:
    """The rate of the largest class, a table per class, the confusion matrix, and what probabilities are worth."""
    from chebnet2d.cli.tables import make_table, print_table
    from chebnet2d.training.metrics import shown_value, title_of_metric

    if threshold is not None:
        where = f"threshold {threshold:.3f} for {report.classes[1]!r}, chosen on validation nodes"
        say(f"{where}: test {title_of_metric(metric)} {shown_value(metric, report.scores[metric])}")
    say(f"the largest class alone would be right for {100 * report.majority:.2f} % of the test nodes")
    table = make_table("class", "precision", "recall", "F1", "test nodes")
    for row in report.rows():
        shares = (f"{100 * row[name]:.1f} %" for name in ("precision", "recall", "f1"))
        table.add_row(row["class"], *shares, f"{row['support']:,}")
    print_table(table)
    if len(report.classes) <= _CONFUSED:
        matrix = make_table("is, predicted as:", *report.classes)
        for name, row in zip(report.classes, report.confusion, strict=True):
            matrix.add_row(name, *(f"{count:,}" for count in row))
        print_table(matrix)
    say(calibration_line(report.calibration, temperature, "validation"))


def calibration_line(calibration: Mapping[str, float], temperature: float | None, source: str) -> str:
    """``source``: the nodes that the temperature is from."""
    error = f"expected calibration error {100 * calibration['expected_calibration_error']:.1f} %"
    line = f"probabilities: {error}, Brier score {calibration['brier_score']:.4f}"
    if temperature is not None:
        line += f" (temperature {temperature:.2f}, from {source} nodes)"
    if "covered" in calibration:
        share, size = f"{100 * calibration['covered']:.1f} %", f"{calibration['set_size']:.2f} labels on average"
        line += f"; label sets for coverage {calibration['coverage']:g} held {share} of the true labels, with {size}"
    return line


def finish(model: Any, record: dict[str, Any], save: Path | None, as_json: bool, stopped: BaseException | None = None) -> None:
    """Save a trained model with its record, if asked to; print the record, if that is asked for.

    ``stopped``: what ended the training early. The best epoch so far is saved all the same, and it is raised again at the end.
    """
    from chebnet2d._versions import versions
    from chebnet2d.models import save as save_model

    record = {**record, "versions": versions()}
    if stopped is not None:
        record = {**record, "interrupted": True}
    if save is not None:
        save_model(model, save, facts=record)
        record = {**record, "saved": str(save)}
        what = "model" if stopped is None else f"the best epoch so far, {record['best_epoch']} of {record['epochs']},"
        say(f"{what} saved in {save}", quiet=as_json)
    if as_json:
        print_json(record)
    if stopped is not None:
        raise stopped


@contextmanager
def connected_to(address: str | None) -> Iterator[None]:
    """Connected to a Ray cluster, if there is an address. What Ray prints on stdout, which is for results, goes to stderr."""
    if address is None:
        yield
        return
    from chebnet2d.cluster import connected

    with redirect_stdout(sys.stderr), connected(address):
        yield


def check_log(owner: str, path: Path, keep: Sequence[Path | None] = ()) -> None:
    """Whether lines can be appended there: to a new file, to a log of ours, or to a pipe or terminal."""
    from chebnet2d._checks import InputError
    from chebnet2d._targets import Mark, check_target, is_ours

    if path.is_fifo() or path.is_char_device():
        return
    check_target(owner, "log", path, keep)
    if path.exists() and not is_ours(path, [Mark(_LOG.encode())]):
        raise InputError(owner, "log", "a new file or a log of chebnet2d", got=f"{str(path)!r}, which is something else")
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(owner, "log", "a file that you may write to", str(path))


@contextmanager
def log_lines(path: Path | None) -> Iterator[Callable[[str], Any] | None]:
    """A function that appends a line with the time to a file, at once; None without a file. Its first line says what it is."""
    import time

    if path is None:
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", buffering=1) as file:
        if path.is_file() and not path.stat().st_size:
            file.write(f"{_LOG}\n")
        yield lambda text: file.write(time.strftime("%Y-%m-%d %H:%M:%S ") + text + "\n")

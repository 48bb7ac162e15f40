"""A row, wherever it comes from: its columns, their types and ranges, a checksum over them, and the way from older layouts.

Schema 1 had the columns ``test_metric``, ``test_accuracy`` and ``test_roc_auc``; schema 2 has all test metrics in ``test``;
schema 3 adds ``checksum``, by which a row that was damaged on a disk is told; schema 4 has trials besides the runs of the report
(``kind``, ``trial``, ``pruned``), ``curve`` and ``predictions``.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from chebnet2d._checks import InputError, integer, one_of, real
from chebnet2d.training.metrics import METRICS

_BEFORE_4 = (
    *("run_id", "unit_id", "method", "dataset", "split", "split_seed", "seed"),
    *("metric", "test", "val_metric", "val_loss", "best_epoch", "epochs", "seconds", "peak_mib", "parameters"),
    *("config", "dataset_digest", "split_digest", "train_nodes", "test_nodes", "versions", "machine", "finished_at"),
)
REPORT, TRIAL = "report", "trial"
SINCE_4 = {"kind": REPORT, "trial": None, "pruned": False, "curve": None, "predictions": None}
"""Columns that older rows lack, with what they stand for there."""
COLUMNS = (*_BEFORE_4, *SINCE_4)
STORED = (*COLUMNS, "checksum")
"""Columns of the store and of exported files."""
NESTED = ("test", "config", "versions", "machine")
"""Columns that hold JSON."""
_OLD_TEST = ("test_metric", "test_accuracy", "test_roc_auc")
_LAYOUTS = (set(STORED), set(COLUMNS), {*_BEFORE_4, "checksum"}, set(_BEFORE_4), {*_BEFORE_4, *_OLD_TEST} - {"test"})
_COUNTS = {"split_seed": 0, "seed": 0, "best_epoch": 0, "epochs": 0, "parameters": 0, "train_nodes": 1, "test_nodes": 0}
_MEASURES = ("seconds", "peak_mib")
_SCORES = ("val_metric", "val_loss")
_LARGEST = 2**53
_ROUNDING = 1e-6  # earlier versions added up weights in float32: 1.0000001 of all nodes


def checksum(values: Iterable[Any]) -> str:
    return hashlib.sha256(json.dumps(list(values), allow_nan=False).encode()).hexdigest()[:16]


def stored(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """A row as SQLite, CSV and Parquet have it, with its checksum at the end."""
    values = _flat(row, COLUMNS)
    return (*values, checksum(values))


def _flat(row: Mapping[str, Any], columns: Iterable[str]) -> list[Any]:
    """Tables as JSON, and a flag as the number that it is in SQLite."""
    values = {**row, "pruned": int(row["pruned"])}
    return [json.dumps(values[name], sort_keys=True, allow_nan=False) if name in NESTED else values[name] for name in columns]


def restored(row: Any, where: str) -> dict[str, Any]:
    """The opposite of ``stored``, for a row of this schema or of an older one. ``where``: the row, for a refusal."""
    if not isinstance(row, Mapping) or set(row) not in _LAYOUTS:
        found = [*row] if isinstance(row, Mapping) else []
        got = next((f"{name!r} besides" for name in found if name not in STORED), "") or next(
            (f"none of the name {name!r}" for name in STORED if name not in found), "others"
        )
        raise InputError("study", where, "the columns of a run", got=got, verb="have")
    try:
        values = {name: parsed_json(value) if name in NESTED and isinstance(value, str) else value for name, value in row.items()}
    except ValueError as error:
        raise InputError("study", where, "valid JSON in its nested columns", reason=str(error), verb="have") from None
    if "test" not in values:
        values["test"] = {name: values[f"test_{name}"] for name in ("accuracy", "roc_auc") if values[f"test_{name}"] is not None}
        if values["test_metric"] != values["test"].get(values["metric"]):
            raise InputError("study", f"test_metric of {where}", "the test score of its metric", values["test_metric"])
    try:
        found_row = checked_row({name: {**SINCE_4, **values}[name] for name in COLUMNS}, where)
    except OverflowError:
        raise InputError("study", where, "numbers that fit into 64 bits", got="one that does not", verb="have") from None
    known = [name for name in COLUMNS if name in row]
    if "checksum" in row and row["checksum"] != checksum(_flat(found_row, known)):
        got = f"{row['checksum']!r}: one of its values has changed since it was written"
        raise InputError("study", f"the checksum of {where}", "that of its values", got=got)
    return found_row


def checked_row(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The row with every value of its own type, or a refusal. A number that is none is None: JSON has no NaN."""
    return {name: _CHECKS.get(name, _text)(row, name, f"{name} of {where}") for name in COLUMNS}


def parsed_json(text: str) -> Any:
    """Of text from a file; a ValueError says what is wrong, NaN and depth without end included."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _text(row: Mapping[str, Any], name: str, what: str) -> str:
    value = row[name]
    if not isinstance(value, str) or not value or not value.isprintable():
        raise InputError("study", what, "a text", value)
    return value


def _count(row: Mapping[str, Any], name: str, what: str) -> int:
    last = row["epochs"] if name == "best_epoch" and isinstance(row["epochs"], int) else _LARGEST
    return integer("study", what, row[name], _COUNTS[name], last)


def _measure(row: Mapping[str, Any], name: str, what: str) -> float:
    return real("study", what, row[name], 0, _LARGEST)


def _score(row: Mapping[str, Any], name: str, what: str) -> float | None:
    return _number(row[name], what, row["metric"] if name == "val_metric" else "")


def _kind(row: Mapping[str, Any], name: str, what: str) -> str:
    return one_of("study", what, row[name], (REPORT, TRIAL))


def _trial(row: Mapping[str, Any], name: str, what: str) -> int | None:
    """The number of a point; of a report None where there was no search."""
    return None if row[name] is None and row["kind"] == REPORT else integer("study", what, row[name], 0, _LARGEST)


def _pruned(row: Mapping[str, Any], name: str, what: str) -> bool:
    if row[name] not in (0, 1):
        raise InputError("study", what, "True or False", row[name])
    return bool(row[name])


def _packed(row: Mapping[str, Any], name: str, what: str) -> str | None:
    return None if row[name] is None else _text(row, name, what)


def _table(row: Mapping[str, Any], name: str, what: str) -> dict[str, Any]:
    value = row[name]
    if not isinstance(value, Mapping):
        raise InputError("study", what, "a table of names and values", value)
    if name == "config" and not isinstance(value.get("origin"), str):
        raise InputError("study", what, "the origin of its settings", value.get("origin"), verb="name")
    return dict(value)


def _tests(row: Mapping[str, Any], name: str, what: str) -> dict[str, float | None]:
    """The dataset's own metric is always there; without test nodes it is None."""
    scores = {metric: _number(value, f"{metric} in {what}", metric) for metric, value in _table(row, name, what).items()}
    if not all(metric.isprintable() for metric in scores):
        raise InputError("study", what, "names of metrics", tuple(scores), verb="have")
    if row["test_nodes"] == 0 and any(score is not None for score in scores.values()):
        raise InputError("study", what, "None where there are no test nodes", dict(scores))
    return scores if row["metric"] in scores else {**scores, str(row["metric"]): None}


def _number(value: Any, what: str, metric: str) -> float | None:
    """A finite number, within the range of its metric where that is known here."""
    if value is None:
        return None
    low, high = METRICS[metric].range if isinstance(metric, str) and metric in METRICS else (-math.inf, math.inf)
    number = real("study", what, value)
    return number if low - _ROUNDING <= number <= high + _ROUNDING else real("study", what, value, low, high)


_CHECKS: dict[str, Callable[[Mapping[str, Any], str, str], Any]] = {
    **dict.fromkeys(_COUNTS, _count),
    **dict.fromkeys(_MEASURES, _measure),
    **dict.fromkeys(_SCORES, _score),
    **dict.fromkeys(NESTED, _table),
    "test": _tests,
    "kind": _kind,
    "trial": _trial,
    "pruned": _pruned,
    **dict.fromkeys(("curve", "predictions"), _packed),
}

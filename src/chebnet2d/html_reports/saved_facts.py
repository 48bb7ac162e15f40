"""What was saved with a model or predictor, as far as a report shows it: a file that was edited is refused, not half shown."""

from collections.abc import Mapping
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._documents import check_fields

_NUMBER = (int, float)
_SCORE = (int, float, type(None))
Schema = Mapping[str, type | tuple[type, ...]]
_CLASS: Schema = {"class": str, "precision": _NUMBER, "recall": _NUMBER, "f1": _NUMBER, "support": int}
_REPORT: Schema = {"majority": _NUMBER, "scores": dict, "classes": list, "confusion": list}
_GAIN: Schema = {"with_graph": str, "without": str, "metric": str, "difference": _NUMBER, "low": _SCORE, "high": _SCORE}
_ENTRY: Schema = {
    **{"method": str, "score": _SCORE, "low": _SCORE, "high": _SCORE, "settings": int, "seconds": _NUMBER},
    **{"in_predictor": bool, "status": str},
}
_TABLES = ("settings", "split", "versions")


def checked_facts(facts: Mapping[str, Any], *, predictor: bool) -> dict[str, Any]:
    """The facts; of a field that has another form than it is written in, an ``InputError``."""
    found = dict(facts)
    for name in ("method", "dataset", "metric"):
        _check(name, found.get(name), isinstance(found.get(name), str | None), "a text")
    for name in _TABLES:
        _check(name, found.get(name), isinstance(found.get(name), dict | None), "a table of names and values")
    judged = "test" if predictor else "report"
    if found.get(judged) is not None:
        _check_judged(judged, found[judged])
    rows = found.get("leaderboard") or []
    _check("leaderboard", rows, isinstance(rows, list), "a list")
    for row in rows:
        _check("leaderboard", row, isinstance(row, dict) and row.keys() >= _ENTRY.keys(), f"rows with {', '.join(_ENTRY)}")
        check_fields("report", "the leaderboard", {name: row[name] for name in _ENTRY}, _ENTRY)
        _check("leaderboard", row.get("recipe"), isinstance(row.get("recipe"), dict | None), "recipes as tables")
    if found.get("graph_adds") is not None:
        check_fields("report", "graph_adds of the predictor", found["graph_adds"], _GAIN)
    return found


def _check_judged(name: str, judged: Any) -> None:
    calibration = judged.get("calibration", {}) if isinstance(judged, dict) else {}  # models of 0.1 have none
    rest = {field: value for field, value in judged.items() if field != "calibration"} if isinstance(judged, dict) else judged
    check_fields("report", f"{name} of the model", rest, _REPORT)
    numbers = isinstance(calibration, dict) and all(isinstance(value, _SCORE) for value in calibration.values())
    _check(name, calibration, numbers, "a calibration of names and numbers")
    classes, confusion = judged["classes"], judged["confusion"]
    for row in classes:
        check_fields("report", f"classes in {name} of the model", row, _CLASS)
    square = len(confusion) == len(classes) and all(isinstance(row, list) and len(row) == len(classes) for row in confusion)
    counts = square and all(isinstance(count, int) and count >= 0 for row in confusion for count in row)
    _check(name, confusion, counts, "a square confusion matrix of counts")
    scores = judged["scores"].values()
    _check(name, judged["scores"], all(isinstance(value, _SCORE) for value in scores), "scores that are numbers")


def _check(name: str, value: Any, right: bool, rule: str) -> None:
    if not right:
        raise InputError("report", f"{name} of the model", rule, value)

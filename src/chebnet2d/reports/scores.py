"""Test scores out of rows of a study: what tables, comparisons and plots are made of."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.models import parse_method
from chebnet2d.models.registry import known_model
from chebnet2d.reports.trials import is_trial

Row = Mapping[str, Any]
"""A run, as a store gives it."""


@dataclass(frozen=True)
class StudyScores:
    """``of``: (method, dataset) -> split seed -> scores of its runs; runs that diverged or had no test nodes are counted apart.

    ``splits`` (kind of split; one for each dataset), ``metrics`` and ``shares`` (n_test / n_train) are by dataset.
    """

    of: Mapping[tuple[str, str], Mapping[int, list[float]]]
    diverged: Counter[tuple[str, str]]
    without_test: Counter[tuple[str, str]]
    splits: Mapping[str, str]
    metrics: Mapping[str, str]
    shares: Mapping[str, float]

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(method for method, _ in self.of))

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(dataset for _, dataset in self.of))

    def column(self, dataset: str) -> dict[str, Mapping[int, list[float]]]:
        """The scores on a dataset by method."""
        return {method: scores for (method, name), scores in self.of.items() if name == dataset}


def read_scores(rows: Iterable[Row], metric: str | None = None, owner: str = "read_scores") -> StudyScores:
    """From rows that have one kind of split on each dataset: numbers of different kinds do not compare. Trials are left out.

    ``metric``: default: each dataset's own.
    """
    rows = [row for row in rows if not is_trial(row)]
    splits = {row["dataset"]: row["split"] for row in rows}
    for row in rows:
        if row["split"] != splits[row["dataset"]]:
            got = ", ".join(sorted({one["split"] for one in rows}))
            raise InputError(owner, "rows", "one kind of split", got=got, hint="Choose one, as by_split_kind does.", verb="have")
    metrics = {row["dataset"]: metric or row["metric"] for row in rows}
    scores: dict[tuple[str, str], dict[int, list[float]]] = {}
    diverged: Counter[tuple[str, str]] = Counter()
    without_test: Counter[tuple[str, str]] = Counter()
    for row in rows:
        key, score = (row["method"], row["dataset"]), _score(row, metrics[row["dataset"]], owner)
        of_splits = scores.setdefault(key, {})
        if score is None:
            (diverged if row["test_nodes"] else without_test)[key] += 1
        else:
            of_splits.setdefault(row["split_seed"], []).append(score)
    shares = {row["dataset"]: row["test_nodes"] / row["train_nodes"] for row in rows}
    return StudyScores(scores, diverged, without_test, splits, metrics, shares)


def by_split_kind(rows: Iterable[Row]) -> list[list[Row]]:
    """The rows of each table, trials aside: all together where a dataset has one kind of split, else those of each kind."""
    rows = [row for row in rows if not is_trial(row)]
    if len({(row["dataset"], row["split"]) for row in rows}) == len({row["dataset"] for row in rows}):
        return [rows] if rows else []
    return [[row for row in rows if row["split"] == kind] for kind in dict.fromkeys(row["split"] for row in rows)]


def first_and_others(names: Mapping[str, str], form: str = "{}") -> str:
    """What most datasets have, and what others have: uniform (fixed for tolokers)."""
    counts = Counter(names.values())
    first, *others = sorted(counts, key=lambda name: -counts[name]) or [""]
    of_others = (f"{form.format(name)} for {', '.join(key for key, value in names.items() if value == name)}" for name in others)
    return form.format(first) + (f" ({'; '.join(of_others)})" if others else "")


def title_of(method: str) -> str:
    """For people. A method that this process does not know, as one of the user's own file, has its name."""
    asked = parse_method(method)
    model = known_model(asked.model)
    return (model.info.title if model is not None else asked.model) + (f" ({asked.variant})" if asked.variant else "")


def has_diverged(row: Row) -> bool:
    """Whether the state that a run kept has no finite loss, or no score on test nodes that are there.

    A model whose answers are all NaN still has an accuracy, that of the first class, so that the score alone does not tell.
    """
    return row.get("val_loss", 0.0) is None or (row["test_nodes"] > 0 and _finite(row["test"].get(row["metric"])) is None)


def _score(row: Row, metric: str, owner: str) -> float | None:
    """None for a run that diverged, and for one without test nodes."""
    if row["test_nodes"] == 0 or has_diverged(row):
        return None
    if metric not in row["test"]:
        known = ", ".join(row["test"]) or "none"
        raise InputError(owner, f"rows of {row['dataset']!r}", f"the metric {metric!r}", got=known, verb="have")
    return _finite(row["test"][metric])


def _finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None

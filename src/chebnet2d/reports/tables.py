"""Tables from rows of studies: means, intervals, ranks, and the paper's numbers beside them."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.models import parse_method
from chebnet2d.models.registry import known_model
from chebnet2d.reports.statistics import NO_RUNS, Summary, average_ranks, compare, summarize

LEVEL = 0.05
Row = Mapping[str, Any]
Published = Mapping[str, Mapping[str, float]]
"""Numbers of the paper: method -> dataset -> percent."""


@dataclass(frozen=True)
class Cell:
    """A method on a dataset. ``rank``: 1 = best of its dataset, 2 = second, and so on.

    ``level_with_best``: not significantly worse than the best (corrected paired test over the same splits, 5 %); False where
    untested. ``diverged``: runs without a number, which the summary leaves out; without any other run its mean is NaN.
    """

    summary: Summary
    metric: str
    rank: int
    level_with_best: bool
    published: float | None = None
    diverged: int = 0

    @property
    def gap(self) -> float | None:
        """Ours minus the paper's in points of percent, where both are known."""
        return None if self.published is None or not self.summary.runs else 100 * self.summary.mean - self.published


@dataclass(frozen=True)
class Table:
    """``split``: the kind of split. ``ranks``: mean rank of each method over the datasets that all of them have."""

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    split: str
    cells: Mapping[tuple[str, str], Cell]
    ranks: Mapping[str, float] = field(default_factory=dict)

    def column(self, dataset: str) -> dict[str, Cell]:
        """The cells of a dataset by method."""
        return {method: cell for (method, name), cell in self.cells.items() if name == dataset}


def make_tables(rows: Iterable[Row], published: Published | None = None, metric: str | None = None) -> list[Table]:
    """One table for each kind of split that the rows have; see ``make_table``."""
    by_split: dict[str, list[Row]] = {}
    for row in rows:
        by_split.setdefault(row["split"], []).append(row)
    return [make_table(of_split, published, metric) for of_split in by_split.values()]


def make_table(rows: Iterable[Row], published: Published | None = None, metric: str | None = None) -> Table:
    """From rows of a store that have one kind of split: numbers of different kinds do not compare.

    ``published``: numbers of the paper, shown beside ours and never mixed. ``metric``: default: each dataset's own.
    """
    rows = list(rows)
    kinds = {row["split"] for row in rows}
    if len(kinds) > 1:
        got = ", ".join(sorted(kinds))
        raise InputError("make_table", "rows", "one kind of split", got=got, hint="Use make_tables.", verb="have")
    scores: dict[tuple[str, str], dict[int, list[float]]] = {}
    diverged: Counter[tuple[str, str]] = Counter()
    shares = {row["dataset"]: row["test_nodes"] / row["train_nodes"] for row in rows}
    metrics = {row["dataset"]: metric or row["metric"] for row in rows}
    for row in rows:
        key, score = (row["method"], row["dataset"]), _score(row, metrics[row["dataset"]])
        of_splits = scores.setdefault(key, {})
        if score is None:
            diverged[key] += 1
        else:
            of_splits.setdefault(row["split_seed"], []).append(score)
    methods = tuple(dict.fromkeys(method for method, _ in scores))
    names = tuple(dict.fromkeys(dataset for _, dataset in scores))
    cells = {}
    for dataset in names:
        of_methods = {method: scores[method, dataset] for method in methods if (method, dataset) in scores}
        summaries = {m: summarize(known, shares[dataset]) if known else NO_RUNS for m, known in of_methods.items()}
        order = sorted(summaries, key=lambda method: (not summaries[method].runs, -summaries[method].mean))
        for rank, method in enumerate(order, start=1):
            best, own = of_methods[order[0]], of_methods[method]
            level = rank > 1 and len(best.keys() & own.keys()) > 1 and compare(best, own, shares[dataset]) >= LEVEL
            known = (published or {}).get(method, {}).get(dataset)
            cells[method, dataset] = Cell(summaries[method], metrics[dataset], rank, level, known, diverged[method, dataset])
    means = {m: {d: cells[m, d].summary.mean for d in names if (m, d) in cells and cells[m, d].summary.runs} for m in methods}
    return Table(methods, names, "".join(kinds), cells, average_ranks(means))


def published_numbers() -> dict[str, Any]:
    """The paper's tables as it prints them: table -> method (our name) -> dataset -> mean; of table 4 the seconds per epoch."""
    return json.loads(files("chebnet2d").joinpath("reports", "published.json").read_text(encoding="utf-8"))


def title_of(method: str) -> str:
    """For people. A method that this process does not know, as one of the user's own file, has its name."""
    asked = parse_method(method)
    model = known_model(asked.model)
    return (model.info.title if model is not None else asked.model) + (f" ({asked.variant})" if asked.variant else "")


def _score(row: Row, metric: str) -> float | None:
    """None for a run that diverged."""
    if metric not in row["test"]:
        known = ", ".join(row["test"]) or "none"
        raise InputError("make_table", f"rows of {row['dataset']!r}", f"the metric {metric!r}", got=known, verb="have")
    score = row["test"][metric]
    return score if score is not None and math.isfinite(score) else None

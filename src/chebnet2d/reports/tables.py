"""Tables from rows of studies: means, intervals, ranks, and the paper's numbers beside them."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

from chebnet2d.reports.scores import Row, by_split_kind, first_and_others, read_scores
from chebnet2d.reports.statistics import LEVEL, NO_RUNS, Scores, Summary, average_ranks, compare, ranked, summarize
from chebnet2d.training.metrics import title_of_metric

Published = Mapping[str, Mapping[str, float]]
"""Numbers of the paper: method -> dataset -> percent."""


@dataclass(frozen=True)
class Cell:
    """A method on a dataset. ``rank``: 1 and the number of methods that are better there, so equal ones share theirs.

    ``level_with_best``: not significantly worse than the best, or than any of several that are best (corrected paired test over
    the same splits, 5 %); False where untested. ``diverged``: runs without a number, ``without_test``: runs without test nodes;
    the summary leaves both out, and without any other run its mean is NaN.
    """

    summary: Summary
    metric: str
    rank: int
    level_with_best: bool
    published: float | None = None
    diverged: int = 0
    without_test: int = 0

    @property
    def runs(self) -> int:
        """All of them, with and without a number."""
        return self.summary.runs + self.diverged + self.without_test

    @property
    def left_out(self) -> str:
        """What is to be said of runs that the number leaves out: 1 of 10 diverged."""
        parts = ((self.diverged, "diverged"), (self.without_test, "without test nodes"))
        return ", ".join(f"{count} of {self.runs} {what}" for count, what in parts if count and self.summary.runs)

    @property
    def no_number(self) -> str:
        """What stands in the place of a number where there is none."""
        return "diverged" if self.diverged else "no test nodes"

    @property
    def gap(self) -> float | None:
        """Ours minus the paper's in points of percent, where both are known."""
        return None if self.published is None or not self.summary.runs else 100 * self.summary.mean - self.published


@dataclass(frozen=True)
class Table:
    """``splits``: kind of split of each dataset. ``ranks``: mean rank of each method over the datasets that all of them have."""

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    splits: Mapping[str, str]
    cells: Mapping[tuple[str, str], Cell]
    ranks: Mapping[str, float] = field(default_factory=dict)

    @property
    def split(self) -> str:
        """For people: the kind of split, where there are several with their datasets."""
        return first_and_others(self.splits)

    @property
    def metric(self) -> str:
        """For people: accuracy, or accuracy (ROC-AUC for tolokers)."""
        return first_and_others({dataset: title_of_metric(cell.metric) for (_, dataset), cell in self.cells.items()})

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """Method -> dataset -> mean, where there is one."""
        return {
            method: {d: cell.summary.mean for (m, d), cell in self.cells.items() if m == method and cell.summary.runs}
            for method in self.methods
        }

    def column(self, dataset: str) -> dict[str, Cell]:
        """The cells of a dataset by method."""
        return {method: cell for (method, name), cell in self.cells.items() if name == dataset}


def make_tables(rows: Iterable[Row], published: Published | None = None, metric: str | None = None) -> list[Table]:
    """One table; where a dataset has several kinds of split, one for each kind. See ``make_table``."""
    return [make_table(of_split, published, metric) for of_split in by_split_kind(rows)]


def make_table(rows: Iterable[Row], published: Published | None = None, metric: str | None = None) -> Table:
    """From rows of a store that have one kind of split on each dataset: numbers of different kinds do not compare.

    ``published``: numbers of the paper, shown beside ours and never mixed. ``metric``: default: each dataset's own.
    """
    found = read_scores(rows, metric, "make_table")
    methods, names = found.methods, found.datasets
    cells = {}
    for dataset in names:
        of_methods, share = found.column(dataset), found.shares[dataset]
        summaries = {m: summarize(known, share) if known else NO_RUNS for m, known in of_methods.items()}
        ranks = dict(zip(summaries, ranked([s.mean if s.runs else -math.inf for s in summaries.values()]), strict=True))
        best = [of_methods[method] for method, rank in ranks.items() if rank == 1]
        for method, own in of_methods.items():
            level = ranks[method] > 1 and all(_level(one, own, share) for one in best)
            known = (published or {}).get(method, {}).get(dataset)
            lost = found.diverged[method, dataset], found.without_test[method, dataset]
            cells[method, dataset] = Cell(summaries[method], found.metrics[dataset], ranks[method], level, known, *lost)
    table = Table(methods, names, found.splits, cells)
    return replace(table, ranks=average_ranks(table.means))


def published_numbers() -> dict[str, Any]:
    """The paper's tables as it prints them: table -> method (our name) -> dataset -> mean; of table 4 the seconds per epoch."""
    return json.loads(files("chebnet2d").joinpath("reports", "published.json").read_text(encoding="utf-8"))


def _level(best: Scores, own: Scores, share: float) -> bool:
    return len(best.keys() & own.keys()) > 1 and compare(best, own, share) >= LEVEL

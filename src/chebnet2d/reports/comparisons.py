"""Two methods on the same splits: how likely is one better, and which differences stand after many tests."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import scipy.stats

from chebnet2d._checks import InputError, real
from chebnet2d.reports.scores import Row, StudyScores, by_split_kind, first_and_others, read_scores
from chebnet2d.reports.statistics import LEVEL, TIE, Scores, compare, corrected_error, paired

ROPE = 0.005
"""Half of the region of practical equivalence: methods within half a point of each other serve equally well."""


@dataclass(frozen=True)
class Probabilities:
    """That a method is better than another by more than the region of practical equivalence, within it, worse."""

    better: float
    equivalent: float
    worse: float


@dataclass(frozen=True)
class Comparison:
    """``reference`` against ``method`` on the ``splits`` that both have; ``difference`` > 0 where the reference is ahead.

    ``p_value`` is that of the corrected resampled t-test, ``adjusted`` with Holm's correction over the family.
    """

    reference: str
    method: str
    dataset: str
    difference: float
    splits: int
    p_value: float
    adjusted: float
    probabilities: Probabilities

    @property
    def significant(self) -> bool:
        return self.adjusted < LEVEL


Families = Mapping[str, Sequence[Comparison]]
"""Comparisons by kind of split; Holm's correction is made over those of one kind."""


def judge(a: Scores, b: Scores, test_share: float, rope: float = ROPE) -> Probabilities:
    """The Bayesian correlated t-test (Corani and Benavoli 2015) of ``a`` against ``b``, paired over the splits that both have.

    With a flat prior the posterior of the mean difference is a Student distribution with the mean, the corrected error and
    the degrees of freedom of the test of Nadeau and Bengio.
    """
    real("judge", "rope", rope, 0)
    differences = paired(a, b, "judge")
    mean, error = float(differences.mean()), corrected_error(differences, test_share)
    if error <= TIE:
        return Probabilities(float(mean > rope), float(abs(mean) <= rope), float(mean < -rope))
    worse, below = scipy.stats.t.cdf([-rope, rope], df=differences.size - 1, loc=mean, scale=error)
    return Probabilities(float(1 - below), float(below - worse), float(worse))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted by Holm's procedure (1979): the chance of any false finding among all of them stays below the level."""
    order = np.argsort(p_values, kind="stable")
    scaled = np.sort(p_values) * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1) if len(p_values) else scaled
    return adjusted.tolist()


def compare_with(rows: Iterable[Row], reference: str, metric: str | None = None) -> list[Comparison]:
    """The reference with every other method on every dataset: these are the family that Holm's correction is made over.

    Pairs that share fewer than two splits, as where runs diverged, are not in it.
    """
    found = read_scores(rows, metric, "compare_with")
    if reference not in found.methods:
        known = ", ".join(map(repr, found.methods)) or "none"
        raise InputError("compare_with", "reference", f"one of the methods with finished runs, {known}", reference)
    family = [
        _compared(found, reference, method, dataset)
        for dataset in found.datasets
        for method in found.methods
        if method != reference and _comparable(found, reference, method, dataset)
    ]
    adjusted = holm([one.p_value for one in family])
    return [replace(one, adjusted=value) for one, value in zip(family, adjusted, strict=True)]


def compare_all(rows: Iterable[Row], reference: str) -> Families:
    """``compare_with`` for each table that the rows make, by its kind of split: each is a family of its own."""
    found = {}
    for of_table in by_split_kind(rows):
        splits = read_scores(of_table).splits
        found[first_and_others(splits)] = compare_with(of_table, reference)
    return found


def count_wins(rows: Iterable[Row], metric: str | None = None) -> dict[tuple[str, str], tuple[int, int, int]]:
    """For each ordered pair of methods on how many datasets the first wins, ties and loses, by single tests at 5 %."""
    found = read_scores(rows, metric, "count_wins")
    counts = {(a, b): [0, 0, 0] for a in found.methods for b in found.methods if a != b}
    for dataset in found.datasets:
        for a, b in combinations(found.methods, 2):
            if _comparable(found, a, b, dataset):
                scores = found.of[a, dataset], found.of[b, dataset]
                alike = compare(*scores, found.shares[dataset]) >= LEVEL
                place = 1 if alike else 0 if paired(*scores).mean() > 0 else 2
                counts[a, b][place] += 1
                counts[b, a][2 - place] += 1
    return {pair: (wins, ties, losses) for pair, (wins, ties, losses) in counts.items()}


def _comparable(found: StudyScores, a: str, b: str, dataset: str) -> bool:
    return len(found.of.get((a, dataset), {}).keys() & found.of.get((b, dataset), {}).keys()) > 1


def _compared(found: StudyScores, a: str, b: str, dataset: str) -> Comparison:
    first, second, share = found.of[a, dataset], found.of[b, dataset], found.shares[dataset]
    differences, p_value = paired(first, second), compare(first, second, share)
    chances = judge(first, second, share)
    return Comparison(a, b, dataset, float(differences.mean()), differences.size, p_value, p_value, chances)

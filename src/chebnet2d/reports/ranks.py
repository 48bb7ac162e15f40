"""All methods over all datasets: Friedman's test on ranks, and which ranks differ by Nemenyi's test (Demsar 2006)."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.stats

from chebnet2d._checks import InputError
from chebnet2d.reports.scores import Row
from chebnet2d.reports.statistics import LEVEL, average_ranks, ranks_by_dataset
from chebnet2d.reports.tables import make_table


@dataclass(frozen=True)
class Friedman:
    """``ranks``: mean rank of each method, best first, over ``datasets`` datasets.

    ``chi_squared`` is corrected for ties; ``f`` is the form of Iman and Davenport (1980), less timid, and ``p_value`` is its own.
    Two methods whose ranks differ by less than ``critical_difference`` are not told apart; ``groups``: the largest sets of
    methods, in the order of ranks, in which no two are.
    """

    ranks: Mapping[str, float]
    datasets: int
    chi_squared: float
    f: float
    p_value: float
    critical_difference: float

    @property
    def groups(self) -> list[tuple[str, ...]]:
        names, found = list(self.ranks), []
        end = 0
        for start, first in enumerate(names):
            last = max(i for i, name in enumerate(names) if self.ranks[name] - self.ranks[first] <= self.critical_difference)
            if last > start and last >= end:
                found.append(tuple(names[start : last + 1]))
                end = last + 1
        return found


def friedman(rows: Iterable[Row], metric: str | None = None) -> Friedman:
    """From rows with one kind of split on each dataset, over the datasets where every method has a number."""
    return friedman_of_means(make_table(rows, metric=metric).means)


def friedman_of_means(means: Mapping[str, Mapping[str, float]]) -> Friedman:
    """``means``: method -> dataset -> mean score."""
    ranks = ranks_by_dataset(means)
    datasets, methods = ranks.shape
    if methods < 2 or datasets < 2:
        got = f"{methods} and {datasets}"
        raise InputError("friedman", "rows", "at least 2 methods and 2 datasets that all of them have", got=got, verb="have")
    # The sum of squares between methods over that within datasets; without ties the latter is N k (k + 1) / 12.
    between = datasets * float(((ranks.mean(axis=0) - (methods + 1) / 2) ** 2).sum())
    within = float(((ranks - (methods + 1) / 2) ** 2).sum()) / (datasets * (methods - 1))
    chi_squared = between / within if within > 0 else 0.0
    rest = datasets * (methods - 1) - chi_squared
    f = (datasets - 1) * chi_squared / rest if rest > 1e-9 else math.inf
    p_value = float(scipy.stats.f.sf(f, methods - 1, (methods - 1) * (datasets - 1)))
    # Of few datasets the law of F says too much: chance alone ranks all of them alike with this probability.
    p_value = max(p_value, float(math.factorial(methods)) ** (1 - datasets))
    average = average_ranks(means)
    ordered = {name: average[name] for name in sorted(average, key=lambda name: average[name])}
    return Friedman(ordered, datasets, chi_squared, f, p_value, critical_difference(methods, datasets))


def critical_difference(methods: int, datasets: int, level: float = LEVEL) -> float:
    """Of mean ranks, by Nemenyi's test: quantile of the studentised range over the root of 2, times the error of a difference."""
    quantile = float(scipy.stats.studentized_range.ppf(1 - level, methods, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(methods * (methods + 1) / (6 * datasets))

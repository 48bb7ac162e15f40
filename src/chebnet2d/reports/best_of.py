"""What a search of n trials is expected to find: the best of n drawn from those that were run (Dodge et al. 2019).

A method that is good after many trials alone is told from one that is good at once.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.reports.scores import Row
from chebnet2d.reports.statistics import average_ranks
from chebnet2d.reports.trials import trial_scores


def expected_best(scores: Sequence[float]) -> list[float]:
    """Mean of the largest of n draws with replacement, for n = 1 to the number of scores."""
    if not len(scores):
        raise InputError("expected_best", "scores", "at least one trial", got="none", verb="have")
    ordered, count = np.sort(np.asarray(scores, dtype=float)), len(scores)
    n = np.arange(1, count + 1)[:, None]
    below = np.arange(count + 1) / count
    return ((below[1:] ** n - below[:-1] ** n) @ ordered).tolist()


def best_of_n(rows: Iterable[Row]) -> dict[tuple[str, str], list[float]]:
    """(method, dataset) -> expected best validation score after 1, 2, ... trials, mean over the choices; empty without trials."""
    curves = {key: [expected_best(scores) for scores in choices] for key, choices in trial_scores(rows).items()}
    return {key: [fmean(at_n) for at_n in zip(*of_choices, strict=False)] for key, of_choices in curves.items()}


def rank_by_trials(rows: Iterable[Row]) -> dict[str, list[float]]:
    """Mean rank of each method after 1, 2, ... trials, by the expected best over the datasets that all methods were searched on.

    As far as every method has trials; empty where no dataset has trials of all methods.
    """
    curves = best_of_n(rows)
    methods = dict.fromkeys(method for method, _ in curves)
    ranks: dict[str, list[float]] = {}
    for n in range(min((len(curve) for curve in curves.values()), default=0)):
        means = {method: {name: curve[n] for (other, name), curve in curves.items() if other == method} for method in methods}
        for method, rank in average_ranks(means).items():
            ranks.setdefault(method, []).append(rank)
    return ranks

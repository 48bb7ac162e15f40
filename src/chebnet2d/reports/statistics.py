"""What may be said from repeated runs.

Runs on random splits of one dataset share training nodes, so they are not independent, and the usual interval is too short. The
unit here is the split: initialisations are averaged first. Variances carry the correction of Nadeau and Bengio (2003): 1/k
becomes 1/k + n_test / n_train for k random splits.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import scipy.stats

from chebnet2d._checks import InputError

LEVEL = 0.05
TIE = 1e-9
"""Means that differ by no more are equal: the same fractions summed in another order differ by 1e-16, one node of 1e6 by 1e-6."""


@dataclass(frozen=True)
class Summary:
    """``std`` is over all runs, as papers print it. ``half_width``: of the 95 % interval of the mean (NaN with one split)."""

    mean: float
    std: float
    half_width: float
    runs: int
    splits: int


Scores = Mapping[int, Sequence[float]]
"""Split seed -> scores of its runs."""
NO_RUNS = Summary(math.nan, math.nan, math.nan, 0, 0)
"""Of a method all of whose runs diverged."""


def summarize(scores: Scores, test_share: float) -> Summary:
    """``test_share``: n_test / n_train."""
    if not scores or any(len(values) == 0 for values in scores.values()):
        raise InputError("summarize", "scores", "at least one run for every split", got="none", verb="have")
    every = np.concatenate([np.asarray(values, dtype=float) for values in scores.values()])
    by_split = np.array([np.mean(values) for values in scores.values()])
    spread = float(every.std(ddof=1)) if every.size > 1 else math.nan
    half = math.nan
    if by_split.size > 1:
        half = float(scipy.stats.t.ppf(0.975, df=by_split.size - 1)) * corrected_error(by_split, test_share)
    return Summary(float(by_split.mean()), spread, half, every.size, by_split.size)


def compare(a: Scores, b: Scores, test_share: float) -> float:
    """The two-sided p-value of the corrected resampled t-test, paired over the splits that both have."""
    differences = paired(a, b)
    mean, error = float(differences.mean()), corrected_error(differences, test_share)
    if error <= TIE:  # the same difference on every split, up to rounding
        return 1.0 if abs(mean) <= TIE else 0.0
    return float(2 * scipy.stats.t.sf(abs(mean) / error, df=differences.size - 1))


def ranked(values: Sequence[float]) -> list[int]:
    """1 and the number of values that are larger: all that are tied for best have 1."""
    return [1 + sum(other > value + TIE for other in values) for value in values]


def average_ranks(means: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Mean rank (1 = best, equal ones share the mean of theirs) of each method over the datasets that all of them have; empty if
    there is none.
    """
    by_dataset = ranks_by_dataset(means)
    return dict(zip(means, by_dataset.mean(axis=0).tolist(), strict=True)) if by_dataset.size else {}


def ranks_by_dataset(means: Mapping[str, Mapping[str, float]]) -> np.ndarray:
    """A row for each dataset that all methods have, a column for each method: 1 + the better ones + half of the equal ones."""
    common = [dataset for dataset in next(iter(means.values()), {}) if all(dataset in row for row in means.values())]
    table = np.array([[row[dataset] for row in means.values()] for dataset in common]).reshape(len(common), len(means))
    ahead = table[:, None, :] - table[:, :, None]
    return 0.5 + (ahead > TIE).sum(axis=2) + 0.5 * (abs(ahead) <= TIE).sum(axis=2)


def paired(a: Scores, b: Scores, owner: str = "compare") -> np.ndarray:
    """The difference of the means on each split that both have."""
    shared = sorted(set(a) & set(b))
    if len(shared) < 2:
        raise InputError(owner, "a and b", "at least 2 splits", got=str(len(shared)), verb="share")
    return np.array([fmean(a[split]) - fmean(b[split]) for split in shared])


def corrected_error(values: np.ndarray, test_share: float) -> float:
    return math.sqrt((1 / values.size + test_share) * float(values.var(ddof=1)))

"""Who is in the predictor: the best candidate of each of the best few entries, with equal weights.

Weights that are fitted to out-of-fold predictions of few nodes lose more by chance than they gain.
"""

import math
from collections.abc import Sequence

import torch

from chebnet2d.auto.candidate import Outcome, mean_of
from chebnet2d.auto.problem import Problem
from chebnet2d.auto.work import answers_of

MOST = 4
PENALTY = 0.1  # standard errors of the best score, for each member beyond the first


def best_of_entries(outcomes: Sequence[Outcome]) -> dict[str, Outcome]:
    """The best candidate of each entry on the first partition, the best entry first. Among equals the earlier one."""
    best: dict[str, Outcome] = {}
    for outcome in sorted(outcomes, key=lambda one: one.candidate.number):
        own = outcome.candidate
        if own.repeat or math.isnan(outcome.score):
            continue
        if own.entry not in best or outcome.score > best[own.entry].score:
            best[own.entry] = outcome
    return dict(sorted(best.items(), key=lambda item: (-item[1].score, item[0])))


def members_of(problem: Problem, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """From one to ``MOST``, as many as have the best mean of the fold scores, less a small penalty on their number."""
    best = list(best_of_entries(outcomes).values())[:MOST]
    if not best:
        return []
    step = PENALTY * standard_error(best[0].fold_scores)
    sums = torch.zeros(())
    values = []
    for count, outcome in enumerate(best, start=1):
        sums = sums + answers_of(outcome).out_of_fold.double()
        score = outcome.score if count == 1 else mean_of(problem.fold_scores(sums / count))
        values.append(score - step * (count - 1))
    return best[: 1 + max(range(len(values)), key=values.__getitem__)]


def standard_error(scores: Sequence[float]) -> float:
    defined = [score for score in scores if not math.isnan(score)]
    if len(defined) < 2:
        return 0.0
    mean = math.fsum(defined) / len(defined)
    variance = math.fsum((score - mean) ** 2 for score in defined) / (len(defined) - 1)
    return math.sqrt(variance / len(defined))

"""Successive halving: who leaves at a rung. A trial is one setting, trained by one run or by several (one for each split)."""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence

from chebnet2d._checks import InputError, integer


def worse_half(scores: Mapping[int, Sequence[tuple[float, float]]], running: Collection[int]) -> set[int]:
    """The trials of ``running`` that leave.

    ``scores``: (best validation metric so far, its loss) of every run of a trial. A trial is as good as its mean metric; ties go
    to the lower mean loss, then to the earlier trial. Half of them leave; of an odd number the larger part stays.
    """

    def rank(trial: int) -> tuple[float, float, int]:
        metric = _mean([metric for metric, _ in scores[trial]])
        loss = _mean([-loss for _, loss in scores[trial]])
        return metric, loss, -trial

    order = sorted(running, key=rank)
    return set(order[: len(order) // 2])


def _mean(numbers: Sequence[float]) -> float:
    mean = math.fsum(numbers) / len(numbers)
    return -math.inf if math.isnan(mean) else mean


def check_rungs(rungs: Sequence[int]) -> tuple[int, ...]:
    checked = tuple(integer("fit_many", "every rung", rung, 1) for rung in rungs)
    if any(first >= second for first, second in itertools.pairwise(checked)):
        raise InputError("fit_many", "rungs", "increasing epochs", checked)
    return checked


def check_trials(trials: Sequence[int], runs: int) -> list[int]:
    checked = [integer("fit_many", "every trial number", trial, 0) for trial in trials]
    if len(checked) != runs:
        raise InputError("fit_many", "trials", f"a number for each of the {runs} runs", got=str(len(checked)), verb="have")
    return checked

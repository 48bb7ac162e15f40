"""Successive halving: at a rung the worse half of the trials leaves. A trial is one setting, trained by one run or by several."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from chebnet2d._checks import InputError, integer
from chebnet2d.training.pruning import Standing


@dataclass(frozen=True)
class Halving:
    """For ``fit_many``: which runs leave before they are done.

    Args:
        rungs: increasing epochs. After each of them the worse half of the trials that are still in training leaves, judged by
            the mean of their best validation metric so far; ties go to the lower mean loss, then to the earlier trial. Of an odd
            number the larger part stays, so one always does.
        trials: a number per run. Runs with the same number are one trial (one setting on several splits): judged together, and
            they leave together. Default: every run is a trial.
        seconds: runs that are not done by then end as they are, after one epoch at least.
    """

    rungs: Sequence[int] = ()
    trials: Sequence[int] | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for rung in self.rungs:
            integer("Halving", "every rung", rung, 1)
        if any(first >= second for first, second in itertools.pairwise(self.rungs)):
            raise InputError("Halving", "rungs", "increasing epochs", tuple(self.rungs))
        for trial in self.trials or ():
            integer("Halving", "every trial number", trial, 0)

    def leaving(self, standings: Sequence[Standing]) -> set[int]:
        """Positions of the runs that leave."""
        trials = range(len(standings)) if self.trials is None else self.trials
        if len(trials) != len(standings):
            raise InputError("Halving", "trials", f"a number per run, {len(standings)} in all", got=str(len(trials)), verb="have")
        runs: dict[int, list[Standing]] = {}
        for trial, standing in zip(trials, standings, strict=True):
            runs.setdefault(trial, []).append(standing)

        def rank(trial: int) -> tuple[float, float, int]:
            return _mean([run.metric for run in runs[trial]]), _mean([-run.loss for run in runs[trial]]), -trial

        running = [trial for trial, own in runs.items() if any(run.running for run in own)]
        worse = sorted(running, key=rank)[: len(running) // 2]
        return {r for r, trial in enumerate(trials) if trial in worse}


def _mean(numbers: Sequence[float]) -> float:
    mean = math.fsum(numbers) / len(numbers)
    return -math.inf if math.isnan(mean) else mean

"""From recipes to trials: runs on all splits, trained side by side, the worse half of which leaves at each rung."""

import itertools
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chebnet2d._checks import InputError, integer
from chebnet2d.data import Split
from chebnet2d.recipes import Recipe
from chebnet2d.search.result import Trial
from chebnet2d.training import EpochProgress, Result, Run, Standing, fit_many

Outcome = tuple[Trial, dict[int, float]]
"""A trial, and its score at every rung that it reached and at its last epoch (``steps`` of ``Trials.tell``)."""


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


class Trainer:
    """Trains recipes on data. Splits, initial parameters and ``settings`` are the same for all of them.

    The test nodes are taken out of the splits here, so no run knows them. ``data`` is prepared by the recipes' transform.
    """

    def __init__(self, data: Any, splits: Sequence[Split], seed: int, settings: Mapping[str, Any]) -> None:
        self.data, self.seed, self.settings = data, seed, settings
        self.splits = [replace(split, test=split.test[:0]) for split in splits]

    def runs(self, recipe: Recipe) -> list[Run]:
        """One per split. An ``InputError`` says why a recipe makes no model."""
        whole = replace(recipe, settings={**recipe.settings, **self.settings})
        return whole.runs(self.data, [(split, self.seed + number) for number, split in enumerate(self.splits)])

    def train(
        self,
        recipes: Sequence[Recipe],
        rungs: Sequence[int],
        seconds: float,
        sent: float,
        *,
        report: Callable[[EpochProgress], None] | None = None,
    ) -> list[Outcome]:
        """One trial per recipe: the task of an executor. At each rung the worse half leaves; what is left at the end is cut off.

        The end is ``seconds`` after ``sent``: time that a task had to wait, or that a node took along when it died, is gone. Only
        the wall clock can say when that is, and two machines need not agree on it.
        """
        runs = [run for recipe in recipes for run in self.runs(recipe)]
        trials = [number for number in range(len(recipes)) for _ in self.splits]
        left = max(seconds - max(time.time() - sent, 0.0), 0.0)
        pruner = Halving(rungs, trials, None if math.isinf(left) else left)
        found = iter(fit_many(runs, self.data, test=False, progress=report, pruner=pruner))
        results = [[next(found) for _ in self.splits] for _ in recipes]
        return [(Trial.of_results(recipe, own), _steps(own, rungs)) for recipe, own in zip(recipes, results, strict=True)]


def _steps(results: Sequence[Result], rungs: Sequence[int]) -> dict[int, float]:
    """Mean of the best metric so far, at every rung that the trial reached and at its last epoch."""
    last = max(result.epochs for result in results)
    return {
        step: statistics.fmean(max(result.history.val_metric[:step]) for result in results)
        for step in [*(rung for rung in rungs if rung < last), last]
    }


def _mean(numbers: Sequence[float]) -> float:
    mean = math.fsum(numbers) / len(numbers)
    return -math.inf if math.isnan(mean) else mean

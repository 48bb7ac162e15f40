"""From recipes to trials: runs on all splits, trained side by side."""

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chebnet2d.data import Split
from chebnet2d.recipes import Recipe
from chebnet2d.search.halving import Halving
from chebnet2d.search.result import Trial
from chebnet2d.training import EpochProgress, Result, Run, fit_many

Outcome = tuple[Trial, dict[int, float]]
"""A trial, and its score at every rung that it reached and at its last epoch (``steps`` of ``Trials.tell``)."""


class Trainer:
    """Trains recipes on data. Splits, initial parameters and ``settings`` are the same for all of them.

    The test nodes are taken out of the splits here, so no run knows them. ``data`` is prepared by the recipes' transform.
    """

    def __init__(self, data: Any, splits: Sequence[Split], seed: int, settings: Mapping[str, Any], width: int | None) -> None:
        self.data, self.seed, self.settings, self.width = data, seed, settings, width
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
        found = iter(fit_many(runs, self.data, width=self.width, test=False, progress=report, pruner=pruner))
        results = [[next(found) for _ in self.splits] for _ in recipes]
        return [(Trial.of_results(recipe, own), _steps(own, rungs)) for recipe, own in zip(recipes, results, strict=True)]


def _steps(results: Sequence[Result], rungs: Sequence[int]) -> dict[int, float]:
    """Mean of the best metric so far, at every rung that the trial reached and at its last epoch."""
    last = max(result.epochs for result in results)
    return {
        step: statistics.fmean(max(result.history.val_metric[:step]) for result in results)
        for step in [*(rung for rung in rungs if rung < last), last]
    }

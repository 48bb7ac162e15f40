"""The loop of a search: ask for points, train them, tell what they reached, until the budget is spent."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.cluster import Executor
from chebnet2d.recipes import Recipe
from chebnet2d.search.budget import Budget, Spending
from chebnet2d.search.trainer import Outcome, Trainer, train_group
from chebnet2d.search.trial import Trial
from chebnet2d.search.trials import Asked, Trials
from chebnet2d.training import EpochProgress

BASELINE_SHARE = 0.2
"""Part of the time that the baseline may take."""
GRACE = 30.0
"""Seconds that a group has to come back when the time is up; one that waits for a CPU for longer is given up."""


@dataclass(frozen=True)
class SearchProgress:
    """After every epoch of a stack that is trained in this process (``epoch``), and after every group of trials (None).

    ``trials``: ended in this call. ``seconds``: since its start.
    """

    trials: int
    in_training: int
    seconds: float
    budget: Budget
    best: float | None
    epoch: EpochProgress | None


@dataclass(frozen=True, eq=False)
class TrialGroup:
    """Trials that are trained side by side: one task of an executor. ``asked`` is empty for the baseline, which no sampler chose."""

    asked: Sequence[Asked]
    recipes: Sequence[Recipe]
    started: float

    def __repr__(self) -> str:
        return f"{len(self.asked)} trials" if self.asked else "baseline"


class SearchLoop:
    """One call of ``search``. Several groups may be in training at a time: an executor asks for one whenever it has a free slot."""

    def __init__(
        self,
        trainer: Trainer,
        base: Recipe,
        trials: Trials,
        spending: Spending,
        progress: Callable[[SearchProgress], None] | None,
        log: Callable[[str], None] | None,
    ) -> None:
        self.trainer, self.base, self.trials, self.spending = trainer, base, trials, spending
        self.progress, self.log = progress, log
        self.in_training: set[TrialGroup] = set()
        self.stopped = "budget"
        self.best = max((trial.val_metric for trial in trials.finished), default=None)

    def run(self, executor: Executor, *, baseline: bool) -> str:
        """Search, and say why it ended."""
        self.spending.learn(self.trials.finished[-self.spending.group_size :])
        left = self.spending.left
        seconds = None if math.isinf(left) else max(left, 0.0) + GRACE
        tasks = self._tasks(baseline)
        try:
            for group, outcomes in executor.run(train_group, tasks, shared=self.trainer, seconds=seconds, report=self._report):
                self.in_training.remove(group)
                if group.asked:
                    self._tell(group, outcomes)
                else:
                    self._tell_baseline(outcomes[0][0])
                self._report(None)
        except KeyboardInterrupt:
            if not self.trials.finished and self.trials.baseline is None:
                raise
            return "interrupted"
        if self.in_training:
            self._write(f"not back in time, and lost: {', '.join(map(repr, self.in_training))}")
        return self.stopped

    # ---- asking -------------------------------------------------------------------------------------------
    def _tasks(self, with_baseline: bool) -> Iterator[tuple[TrialGroup, tuple[Any, ...]]]:
        """Groups with the arguments of ``train_group``. Others may be in training when the next one is asked for."""
        if with_baseline:
            known = self.trials.baseline
            if known is None or known.pruned:  # one that an earlier call had no time for gets another chance
                yield self._task([], [self.base], (), self.spending.left * BASELINE_SHARE)
            else:
                self._learn_baseline(known)
                self._report(None)
        while (count := self.spending.next_group(sum(len(group.asked) for group in self.in_training))) > 0:
            asked = self._ask(count)
            if not asked:
                self.stopped = "every point was tried"
                return
            possible, recipes = self._possible(asked)
            yield self._task(possible, recipes, self.spending.rungs, self.spending.left)

    def _ask(self, count: int) -> list[Asked]:
        begin = self.trials.space.nearest(self.base) if self.trials.sampler == "tpe" else None
        return self.trials.ask(count, begin)

    def _possible(self, asked: Sequence[Asked]) -> tuple[list[Asked], list[Recipe]]:
        """Those of the points that make a model, with their recipes: not every combination of arguments does."""
        possible, recipes, error = [], [], None
        for one in asked:
            model, settings = self.trials.space.point(one.positions)
            try:
                recipe = replace(self.base, model={**self.base.model, **model}, settings={**self.base.settings, **settings})
                self.trainer.check(recipe)
            except InputError as reason:
                error = reason
                self.trials.fail(one)
            else:
                possible.append(one)
                recipes.append(recipe)
        if error is not None and not possible:
            raise error
        return possible, recipes

    def _task(
        self, asked: Sequence[Asked], recipes: Sequence[Recipe], rungs: Sequence[int], seconds: float
    ) -> tuple[TrialGroup, tuple[Any, ...]]:
        group = TrialGroup(asked, recipes, time.perf_counter())
        self.in_training.add(group)
        return group, (recipes, rungs, seconds, time.time())

    # ---- telling ------------------------------------------------------------------------------------------
    def _tell_baseline(self, baseline: Trial) -> None:
        self.trials.baseline = baseline
        cut = f", cut off after {max(baseline.epochs)} epochs" if baseline.pruned else ""
        self._write(f"baseline: validation {baseline.val_metric:.4f} in {baseline.seconds:.1f} s{cut}")
        self._learn_baseline(baseline)

    def _learn_baseline(self, baseline: Trial) -> None:
        if not self.trials.finished:
            self.spending.learn([baseline])
        self._improve([baseline])

    def _tell(self, group: TrialGroup, outcomes: Sequence[Outcome]) -> None:
        trained = time.perf_counter()
        told = []
        for asked, (trial, steps) in zip(group.asked, outcomes, strict=True):
            if math.isnan(trial.val_metric):
                self.trials.fail(asked)
            else:
                self.trials.tell(asked, trial, steps)
                told.append(trial)
        self.spending.writing = time.perf_counter() - trained
        self.spending.trials += len(group.asked)
        self.spending.learn(told)
        self._improve(told)
        done = sum(not trial.pruned for trial in told)
        seconds = time.perf_counter() - group.started
        best = "none" if self.best is None else f"{self.best:.4f}"
        self._write(f"{group!r} ({done} to the end) in {seconds:.1f} s: best validation so far {best}")

    def _improve(self, trials: Sequence[Trial]) -> None:
        known = [] if self.best is None else [self.best]
        self.best = max([*known, *(trial.val_metric for trial in trials)], default=None)

    def _report(self, epoch: EpochProgress | None) -> None:
        if self.progress is not None:
            spending = self.spending
            training = sum(len(group.recipes) for group in self.in_training)
            self.progress(SearchProgress(spending.trials, training, spending.seconds, spending.budget, self.best, epoch))

    def _write(self, line: str) -> None:
        if self.log is not None:
            self.log(line)

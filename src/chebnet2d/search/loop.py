"""The loop of a search: ask for points, train them, tell what they reached, until the budget is spent."""

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.cluster import Executor
from chebnet2d.recipes import Recipe
from chebnet2d.search.budget import Budget, Spending
from chebnet2d.search.result import Trial
from chebnet2d.search.trainer import Outcome, Trainer
from chebnet2d.search.trials import Asked, Trials
from chebnet2d.training import EpochProgress

GRACE = 30.0  # seconds that a group has to come back when the time is up; one that waits for a CPU for longer is given up


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
    """Trials that are trained side by side: one task of an executor. ``asked`` is empty for the baseline: no sampler chose it."""

    asked: Collection[Asked]
    started: float

    def __repr__(self) -> str:
        return f"{len(self.asked)} trials" if self.asked else "baseline"


@dataclass(eq=False)
class SearchLoop:
    """One call of ``search``. Several groups may be in training: the executor asks for one whenever it has a free slot."""

    trainer: Trainer
    base: Recipe
    trials: Trials
    spending: Spending
    progress: Callable[[SearchProgress], None] | None
    log: Callable[[str], None]
    in_training: set[TrialGroup] = field(default_factory=set)
    stopped: str = "budget"

    def __post_init__(self) -> None:
        self.scores = [trial.val_metric for trial in self.trials.finished]

    def run(self, executor: Executor, *, baseline: bool) -> str:
        """Search, and say why it ended."""
        self.spending.learn(self.trials.finished[-self.spending.group_size :])
        limit = None if math.isinf(self.spending.left) else max(self.spending.left, 0.0) + GRACE
        tasks = self._tasks(baseline)
        try:
            for group, outcomes in executor.run(Trainer.train, tasks, shared=self.trainer, seconds=limit, report=self._report):
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
            self.log(f"not back in time, and lost: {', '.join(map(repr, self.in_training))}")
        return self.stopped

    def _tasks(self, with_baseline: bool) -> Iterator[tuple[TrialGroup, tuple[Any, ...]]]:
        """Groups with the arguments of ``Trainer.train``. Others may be in training when the next one is asked for."""
        if with_baseline:
            known = self.trials.baseline
            if known is None or known.pruned:  # one that an earlier call had no time for gets another chance
                yield self._group(()), ([self.base], (), self.spending.left, time.time())
            else:
                self._learn_baseline(known)
                self._report(None)
        while (count := self.spending.next_group(sum(len(group.asked) for group in self.in_training))) > 0:
            begin = self.trials.space.nearest(self.base) if self.trials.sampler == "tpe" else None
            if not (asked := self.trials.ask(count, begin)):
                self.stopped = "every point was tried"
                return
            possible = self._possible(asked)
            yield self._group(possible), (list(possible.values()), self.spending.rungs, self.spending.left, time.time())

    def _possible(self, asked: Sequence[Asked]) -> Mapping[Asked, Recipe]:
        """Those of the points that make a model, with their recipes: not every combination of arguments does."""
        possible, base = {}, self.base
        for one in asked:
            model, settings = self.trials.space.point(one.positions)
            recipe = replace(base, model={**base.model, **model}, settings={**base.settings, **settings})
            try:
                self.trainer.runs(recipe)
                possible[one] = recipe
            except InputError:
                self.trials.fail(one)
                if not possible and one is asked[-1]:
                    raise
        return possible

    def _group(self, asked: Collection[Asked]) -> TrialGroup:
        group = TrialGroup(asked, time.perf_counter())
        self.in_training.add(group)
        return group

    def _tell_baseline(self, baseline: Trial) -> None:
        self.trials.baseline = baseline
        cut = f", cut off after {max(baseline.epochs)} epochs" if baseline.pruned else ""
        self.log(f"baseline: validation {baseline.val_metric:.4f} in {baseline.seconds:.1f} s{cut}")
        self._learn_baseline(baseline)

    def _learn_baseline(self, baseline: Trial) -> None:
        if not self.trials.finished:
            self.spending.learn([baseline])
        self.scores.append(baseline.val_metric)

    def _tell(self, group: TrialGroup, outcomes: Sequence[Outcome]) -> None:
        trained = time.perf_counter()
        told = self.trials.tell((asked, *outcome) for asked, outcome in zip(group.asked, outcomes, strict=True))
        self.spending.writing = time.perf_counter() - trained
        self.spending.trials += len(group.asked)
        self.spending.learn(told)
        self.scores += [trial.val_metric for trial in told]
        done, seconds = sum(not trial.pruned for trial in told), time.perf_counter() - group.started
        best = f"{max(self.scores):.4f}" if self.scores else "none"
        self.log(f"{group!r} ({done} to the end) in {seconds:.1f} s: best validation so far {best}")

    def _report(self, epoch: EpochProgress | None) -> None:
        if self.progress is not None:
            spending, best = self.spending, max(self.scores, default=None)
            training = sum(len(group.asked) or 1 for group in self.in_training)
            self.progress(SearchProgress(spending.trials, training, spending.seconds, spending.budget, best, epoch))

"""Search of settings for a method on a dataset: validation only, the same splits for all trials, a batch of trials as stacks."""

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any

from chebnet2d import data as datasets
from chebnet2d._checks import InputError, flag, integer, one_of
from chebnet2d.cluster import connected
from chebnet2d.data.generated import GENERATED
from chebnet2d.models import parse_method
from chebnet2d.recipes import SEARCHED, Recipe, load_recipe
from chebnet2d.search.budget import Budget, Spending, usual_batch
from chebnet2d.search.halving import Halving
from chebnet2d.search.on_ray import train_on_ray
from chebnet2d.search.space import make_space
from chebnet2d.search.trials import SAMPLERS, STARTUP, Asked, Trials, best_of
from chebnet2d.training import EpochProgress, Result, Run, Settings, fit_many

MEMORY = 2**30
"""Bytes that the parameters of a batch may take: all stacks of a batch are in memory at once."""

BASELINE_SHARE = 0.2
"""Part of the time that the baseline may take."""

Arguments = tuple[Sequence[Sequence[Run]], Sequence[int], float]
"""Of ``_Trainer.train``: runs by trial, rungs and seconds."""

Outcome = tuple[dict[str, Any], dict[int, float]]
"""What a trial reached: the fields of ``Trial`` but for its settings, and ``steps`` as ``Trials.tell`` has them."""


@dataclass(frozen=True)
class Trial:
    """One setting, tried on every split. ``val_metric`` and ``val_loss`` are means over the splits at each run's best epoch.

    ``pruned``: it left before it was done, at a rung or because the time was up; the numbers are those it had reached.
    """

    model: Mapping[str, Any]
    settings: Mapping[str, Any]
    val_metric: float
    val_loss: float
    scores: Sequence[float]
    best_epochs: Sequence[int]
    epochs: Sequence[int]
    seconds: float
    pruned: bool


@dataclass(frozen=True)
class SearchResult:
    """``preset`` holds the best settings: those of the best trial, or the baseline's if no trial was better.

    ``trials`` are in the order in which they ended, those of earlier calls with the same storage included.
    ``stopped``: why the search ended: "budget", "every point was tried" or "interrupted".
    """

    preset: Recipe
    best: Trial | None
    baseline: Trial | None
    trials: tuple[Trial, ...]
    metric: str
    facts: Mapping[str, Any]
    seconds: float
    stopped: str

    @property
    def val_metric(self) -> float:
        """The score of the preset. It is the best of many, so it is higher than what the settings are worth: see the test."""
        return max(trial.val_metric for trial in (self.best, self.baseline) if trial is not None)

    def as_json(self) -> dict[str, Any]:
        return {
            "preset": self.preset.to_json(),
            "metric": self.metric,
            "val_metric": self.val_metric,
            "best": None if self.best is None else asdict(self.best),
            "baseline": None if self.baseline is None else asdict(self.baseline),
            "trials": len(self.trials),
            "pruned": sum(trial.pruned for trial in self.trials),
            "seconds": round(self.seconds, 3),
            "stopped": self.stopped,
            "search": dict(self.facts),
        }


@dataclass(frozen=True)
class SearchProgress:
    """After every epoch of a stack here (``epoch``), and after every batch (None). ``trials``: ended in this call."""

    trials: int
    in_training: int
    seconds: float
    budget: Budget
    best: float | None
    epoch: EpochProgress | None


Report = Callable[[SearchProgress], None]


def search(
    data: Any,
    method: str = "chebnet2d",
    *,
    budget: Budget | str | int = "10m",
    sampler: str = "tpe",
    splits: int = 3,
    split: str = "uniform",
    batch: int | None = None,
    seed: int = 0,
    storage: str | None = None,
    ranges: Mapping[str, Sequence[Any]] | None = None,
    preset: Recipe | None = None,
    baseline: bool = True,
    halving: bool = True,
    epochs: int = 2000,
    patience: int = 200,
    monitor: str = "accuracy",
    width: int | None = None,
    ray: str | None = None,
    progress: Report | None = None,
    log: Callable[[str], None] | None = None,
) -> SearchResult:
    """Look for settings with a high validation score. Test nodes are kept from it: the runs do not even know them.

    Args:
        data: a dataset as ``chebnet2d.data.load`` gives it; the preset's transform is applied here.
        method: name of a model, or ``name:variant``.
        budget: wall time ("90s", "10m", "2h") or a number of trials, for this call.
        sampler: "tpe", "random" or "grid" (all points of the space, in an order that jumps about).
        splits: every trial is trained on the splits 0, 1, ... of the protocol ``split``; its score is the mean.
        batch: how many trials are asked at once and trained side by side; default: 16, at most a quarter of a number of trials.
        seed: of the sampler and of the runs' initial parameters, which are the same for all trials.
        storage: address of a database that keeps the trials; a search that finds its own trials there goes on from them.
        ranges: values that replace those of ``make_space``, by name.
        preset: what is not searched, and the baseline; by default the shipped preset of the method for this dataset.
        baseline: train the preset first, to have something to compare with; it takes a fifth of the time at most.
        halving: at a quarter, at half and at the whole of ``patience`` epochs the worse half of a batch leaves.
        epochs, patience, monitor: as in ``Settings``, for every trial.
        width: see ``fit_many``.
        ray: address of a Ray cluster ("auto": the one that this machine belongs to). Each of its CPUs trains a batch; this
            process asks and tells. A batch whose node dies is trained again elsewhere.
        progress: called after every epoch (not on a cluster) and every batch.
        log: called with a line for every batch.
    """
    limits = Budget.of(budget)
    batch = usual_batch(limits) if batch is None else integer("search", "batch", batch, 1)
    spending = Spending(limits, batch)  # the clock runs from here
    one_of("search", "sampler", sampler, SAMPLERS)
    integer("search", "splits", splits, 1)
    integer("search", "seed", seed, 0)
    flag("search", "halving", halving)
    if not isinstance(method, str):
        raise InputError("search", "method", "the name of a model", method)
    asked = parse_method(method)
    shared = {"epochs": epochs, "patience": patience, "monitor": monitor}
    Settings.of(**shared)
    known_as = data.name.removesuffix(GENERATED)
    base = load_recipe(method, known_as) if preset is None else preset
    base = replace(
        base,
        dataset=known_as,
        variant=asked.variant or base.variant,
        settings={key: value for key, value in base.settings.items() if key not in shared},
    )
    space = make_space(asked.model, ranges, base.variant)
    data = base.prepare(data)
    parts = [datasets.split(data, split, seed=number) for number in range(splits)]
    facts = {
        "method": method,
        "dataset": data.name,
        "transform": base.transform,
        "split": split,
        "splits": [part.digest for part in parts],
        "seed": seed,
        "space": space.as_json(),
        "model": base.arguments,
        "settings": {**base.settings, **shared},
    }
    blind = [replace(part, test=part.test[:0]) for part in parts]
    rungs = tuple(sorted({patience // 4, patience // 2, patience} & set(range(1, epochs)))) if halving else ()
    spending.rungs = rungs
    trainer = _Trainer(data, blind, seed, base, shared, width)
    spending.batch = max(1, min(batch, MEMORY // (splits * trainer.bytes_per_run)))

    flag("search", "baseline", baseline)
    with nullcontext() if ray is None else connected(ray):  # before the storage: a wrong address must not leave a file behind
        trials = Trials(f"{method} on {data.name}", space, sampler, seed, storage, facts)
        try:
            stopped = _Work(trainer, trials, spending, ray, progress, log).run(baseline)
            records, reference = trials.records, trials.baseline if baseline else None
        finally:
            trials.close()
    best = best_of(records)
    if best is None and reference is None:
        raise InputError("search", "budget", "enough for one trial", got=str(spending.budget))
    metric = data.get("metric") or "accuracy"
    learned = sampler != "tpe" or len(records) > max(STARTUP, spending.batch)
    where = f"{split} split{'s' * (splits > 1)}" + ("" if known_as == data.name else " of a generated graph")
    how = f"{sampler if learned else 'random'}, {len(records)} trials on {splits} {where}, seed {seed}"
    return SearchResult(
        preset=_best_preset(base, best, reference, shared, metric, how),
        best=None if best is None else Trial(**best),
        baseline=None if reference is None else Trial(**reference),
        trials=tuple(Trial(**record) for record in records),
        metric=metric,
        facts={**facts, "sampler": sampler, "budget": str(spending.budget), "batch": batch, "rungs": list(rungs)},
        seconds=spending.seconds,
        stopped=stopped,
    )


class _Trainer:
    """From points to results. Initial parameters and splits are the same for all."""

    def __init__(
        self,
        data: Any,
        splits: Sequence[Any],
        seed: int,
        base: Recipe,
        shared: Mapping[str, Any],
        width: int | None,
    ) -> None:
        self.data, self.splits, self.seed, self.width = data, splits, seed, width
        self.base, self.shared = base, shared
        example = base.build(data)
        # Of the model, of the stack, the gradient, two moments, and the best state.
        self.bytes_per_run = 6 * sum(p.numel() * p.element_size() for p in example.parameters())

    def runs(self, model: Mapping[str, Any], settings: Mapping[str, Any]) -> list[Run]:
        chosen = {**self.base.settings, **settings, **self.shared}
        recipe = replace(self.base, model={**self.base.model, **model}, settings=chosen)
        return recipe.runs(self.data, [(split, self.seed + number) for number, split in enumerate(self.splits)])

    def train(
        self,
        trials: Sequence[Sequence[Run]],
        rungs: Sequence[int],
        seconds: float,
        progress: Callable[[EpochProgress], None] | None = None,
    ) -> list[Outcome]:
        """By trial."""
        results = iter(
            fit_many(
                [run for trial in trials for run in trial],
                self.data,
                width=self.width,
                test=False,
                progress=progress,
                pruner=Halving(
                    rungs,
                    [number for number, trial in enumerate(trials) for _ in trial],
                    None if math.isinf(seconds) else max(seconds, 0.0),
                ),
            )
        )
        return [_outcome([next(results) for _ in trial], rungs) for trial in trials]


@dataclass(frozen=True, eq=False)
class _Batch:
    """What is trained at once: trials with their arguments and settings, or the baseline, which is no trial."""

    trials: Sequence[tuple[Asked, Mapping[str, Any], Mapping[str, Any]]]
    started: float

    def __repr__(self) -> str:
        return f"{len(self.trials)} trials" if self.trials else "baseline"


class _Work:
    """The loop: ask, train, tell, until the budget is spent."""

    def __init__(
        self,
        trainer: _Trainer,
        trials: Trials,
        spending: Spending,
        ray: str | None,
        progress: Report | None,
        log: Callable[[str], None] | None,
    ) -> None:
        self.trainer, self.trials, self.spending, self.ray = trainer, trials, spending, ray
        self.progress, self.log = progress, log
        self.in_training: set[_Batch] = set()
        self.stopped = "budget"
        self.best: float | None = None

    def run(self, with_baseline: bool) -> str:
        """Why it ended."""
        before = self.trials.records
        self.spending.learn(before[-self.spending.batch :])
        self.best = max((record["val_metric"] for record in before), default=None)
        batches = self._batches(with_baseline)
        try:
            for batch, outcomes in self._train_here(batches) if self.ray is None else self._train_on_ray(batches, self.ray):
                self.in_training.remove(batch)
                if batch.trials:
                    self._tell(batch, outcomes)
                else:
                    self._tell_baseline(*outcomes)
                self._report(None)
        except KeyboardInterrupt:
            if not self.trials.records and self.trials.baseline is None:
                raise
            return "interrupted"
        if self.in_training:
            self._write(f"not back in time, and lost: {', '.join(map(repr, self.in_training))}")
        return self.stopped

    # ---- where a batch is trained -------------------------------------------------------------------------
    def _train_here(self, batches: Iterator[tuple[_Batch, Arguments]]) -> Iterator[tuple[_Batch, list[Outcome]]]:
        for batch, arguments in batches:
            yield batch, self.trainer.train(*arguments, self._report)

    def _train_on_ray(self, batches: Iterator[tuple[_Batch, Arguments]], address: str) -> Iterator[tuple[_Batch, list[Outcome]]]:
        return train_on_ray(self.trainer.train, batches, address, self.spending.left)

    # ---- asking -------------------------------------------------------------------------------------------
    def _batches(self, with_baseline: bool) -> Iterator[tuple[_Batch, Arguments]]:
        """Batches with the arguments of ``_Trainer.train``. Others may be in training when the next one is asked for."""
        if with_baseline:
            record = self.trials.baseline
            if record is None or record["pruned"]:  # one that an earlier call had no time for gets another chance
                yield self._begin([]), ([self.trainer.runs({}, {})], (), self.spending.left * BASELINE_SHARE)
            else:
                self._learn_baseline(record)
                self._report(None)
        while (count := self.spending.next_batch(sum(len(batch.trials) for batch in self.in_training))) > 0:
            asked = self._ask(count)
            if not asked:
                self.stopped = "every point was tried"
                return
            possible, error = [], None
            for one in asked:
                model, settings = self.trials.space.point(one.positions)
                try:
                    possible.append(((one, model, settings), self.trainer.runs(model, settings)))
                except InputError as reason:  # not every combination of arguments makes a model
                    error = reason
                    self.trials.fail(one)
            if not possible:
                assert error is not None
                raise error
            trials, runs = zip(*possible, strict=True)
            yield self._begin(trials), (runs, self.spending.rungs, self.spending.left)

    def _ask(self, count: int) -> list[Asked]:
        begin = self.trials.space.nearest(self.trainer.base) if self.trials.sampler == "tpe" else None
        return self.trials.ask(count, begin)

    def _begin(self, trials: Sequence[tuple[Asked, Mapping[str, Any], Mapping[str, Any]]]) -> _Batch:
        batch = _Batch(trials, time.perf_counter())
        self.in_training.add(batch)
        return batch

    # ---- telling ------------------------------------------------------------------------------------------
    def _tell_baseline(self, outcome: Outcome) -> None:
        base = self.trainer.base
        record = self.trials.baseline = {"model": base.arguments, "settings": dict(base.settings), **outcome[0]}
        self._write(f"baseline: validation {record['val_metric']:.4f} in {record['seconds']:.1f} s")
        self._learn_baseline(record)

    def _learn_baseline(self, record: Mapping[str, Any]) -> None:
        if not self.trials.records:
            self.spending.learn([record])
        self._improve([record])

    def _tell(self, batch: _Batch, outcomes: Sequence[Outcome]) -> None:
        trained = time.perf_counter()
        records = []
        for (one, model, settings), (reached, steps) in zip(batch.trials, outcomes, strict=True):
            arguments = {
                "model": {**self.trainer.base.arguments, **model},
                "settings": {**self.trainer.base.settings, **settings},
            }
            record = {**arguments, **reached}
            if math.isnan(record["val_metric"]):
                self.trials.fail(one)
            else:
                self.trials.tell(one, record, steps, pruned=record["pruned"])
                records.append(record)
        self.spending.writing = time.perf_counter() - trained
        self.spending.trials += len(batch.trials)
        self.spending.learn(records)
        self._improve(records)
        done = sum(not record["pruned"] for record in records)
        seconds = time.perf_counter() - batch.started
        best = "none" if self.best is None else f"{self.best:.4f}"
        self._write(f"{len(batch.trials)} trials ({done} to the end) in {seconds:.1f} s: best validation so far {best}")

    def _improve(self, records: Sequence[Mapping[str, Any]]) -> None:
        known = [] if self.best is None else [self.best]
        self.best = max([*known, *(record["val_metric"] for record in records)], default=None)

    def _report(self, epoch: EpochProgress | None) -> None:
        if self.progress is not None:
            spending = self.spending
            training = sum(len(batch.trials) or 1 for batch in self.in_training)
            self.progress(SearchProgress(spending.trials, training, spending.seconds, spending.budget, self.best, epoch))

    def _write(self, line: str) -> None:
        if self.log is not None:
            self.log(line)


def _outcome(results: Sequence[Result], rungs: Sequence[int]) -> Outcome:
    """What is kept of the runs of a trial, as JSON."""
    loss = statistics.fmean(result.val_loss for result in results)
    reached = {
        "val_metric": statistics.fmean(result.val_metric for result in results),
        "val_loss": loss if math.isfinite(loss) else 1e30,  # a loss that is not a number must not win a tie
        "scores": [result.val_metric for result in results],
        "best_epochs": [result.best_epoch for result in results],
        "epochs": [result.epochs for result in results],
        "seconds": math.fsum(result.seconds for result in results),
        "pruned": any(result.pruned for result in results),
    }
    return reached, _steps(results, rungs)


def _steps(results: Sequence[Result], rungs: Sequence[int]) -> dict[int, float]:
    """Mean of the best metric so far, at every rung that the trial reached and at its last epoch."""
    last = max(result.epochs for result in results)
    return {
        step: statistics.fmean(max(result.history.val_metric[:step]) for result in results)
        for step in [*(rung for rung in rungs if rung < last), last]
    }


def _best_preset(
    base: Recipe,
    best: Mapping[str, Any] | None,
    reference: Mapping[str, Any] | None,
    shared: Mapping[str, Any],
    metric: str,
    how: str,
) -> Recipe:
    usual = Settings()
    unusual = {name: value for name, value in shared.items() if value != getattr(usual, name)}
    # Ties go to the baseline whatever the losses: the first point is often the baseline's, and rounds otherwise in its stack.
    if reference is not None and (best is None or best["val_metric"] <= reference["val_metric"]):
        origin = f"{base.origin}; a search found nothing better ({how}; mean validation {metric} {reference['val_metric']:.4f})"
        return replace(base, origin=origin, settings={**base.settings, **unusual})
    assert best is not None
    compared = f", {reference['val_metric']:.4f} before" if reference is not None and not reference["pruned"] else ""
    origin = f"{SEARCHED}: {how}; mean validation {metric} {best['val_metric']:.4f}{compared}"
    return replace(base, origin=origin, model=best["model"], settings={**best["settings"], **unusual})

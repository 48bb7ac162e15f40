"""Units: runs that are trained together and committed together. Their ids say what they are, whenever and wherever they are run.

Unit          report runs with a recipe that is known from the beginning
TrialUnit     trials: points of a search, which see validation nodes alone
ChosenUnit    report runs with the recipes that the trials of a TrialUnit choose
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from chebnet2d.data.catalogue import known_name
from chebnet2d.recipes import Recipe
from chebnet2d.study.choice import GroupedHalving, choose
from chebnet2d.study.layout import REPORT, TRIAL
from chebnet2d.study.selection import Selection, Values
from chebnet2d.training import Pruner

Seeds = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Job:
    """One run. ``trial``: the number of the point; None where there was no search."""

    recipe: Recipe
    split_seed: int
    seed: int
    trial: int | None = None


@dataclass(frozen=True)
class Unit:
    """Runs of one method on one dataset, in stacks of ``width``: (split seed, initialisation seed) for each run.

    ``width``: None: what the caches hold, for each shape of model. ``code_digest``: of the file of an outside method; "" for
    methods of the package.
    """

    position: int
    method: str
    dataset: str
    dataset_digest: str
    recipe: Recipe
    split: str
    seeds: Seeds
    width: int | None
    code_digest: str = ""
    kind: ClassVar[str] = REPORT

    @cached_property
    def id(self) -> str:
        return self._digest(self.seeds, self.width)

    @property
    def needs(self) -> tuple[str, ...]:
        """Units that must be finished before."""
        return ()

    @property
    def pruner(self) -> Pruner | None:
        return None

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        return tuple(Job(self.recipe, *seeds) for seeds in self.seeds)

    @property
    def size(self) -> int:
        """How many rows it has."""
        return len(self.seeds)

    def run_id(self, split_seed: int, seed: int) -> str:
        return self._digest(split_seed, seed)

    def job_id(self, job: Job, dataset_digest: str) -> str:
        """``run_id`` of a run with a recipe of its own, on the dataset as that prepares it."""
        return replace(self, recipe=job.recipe, dataset_digest=dataset_digest)._digest(job.split_seed, job.seed)

    def config_of(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a row of another study was run with, as this study describes it; None if it is something else."""
        return self.recipe.to_json()

    def _digest(self, *seeds: Any) -> str:
        """Of what the numbers depend on. Its form must stay: runs of earlier studies are found by it."""
        code = [self.code_digest] if self.code_digest else []
        facts = [self.method, self.dataset_digest, _identity(self.recipe), self.split, *code, *seeds]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class TrialUnit(Unit):
    """Every trial on every split and initialisation of ``seeds``.

    ``alone``: each split has its own comparison of the trials (nested); else they are judged by the mean over all.
    """

    trials: tuple[Recipe, ...]
    rungs: tuple[int, ...]
    alone: bool
    kind: ClassVar[str] = TRIAL

    @cached_property
    def id(self) -> str:
        points = [_identity(trial) for trial in self.trials]
        return self._digest("trials", points, self.rungs, self.alone, self.seeds, self.width)

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        return _by_transform(Job(recipe, *seeds, trial) for trial, recipe in enumerate(self.trials) for seeds in self.seeds)

    @property
    def size(self) -> int:
        return len(self.seeds) * len(self.trials)

    @property
    def pruner(self) -> Pruner | None:
        if not self.rungs:
            return None
        groups = [job.split_seed if self.alone else 0 for job in self.jobs]
        return GroupedHalving(self.rungs, [job.trial or 0 for job in self.jobs], groups)

    def job_id(self, job: Job, dataset_digest: str) -> str:
        """Two trials may be the same point: their numbers tell them apart, and a run of a report is never a trial."""
        return replace(self, dataset_digest=dataset_digest)._digest("trial", job.trial, job.split_seed, job.seed, self.id)

    def config_of(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        return self.trials[row["trial"]].to_json()


@dataclass(frozen=True, kw_only=True)
class ChosenUnit(Unit):
    """``chosen``: by split seed, the number of the trial and its recipe; empty until ``resolve`` has seen the trials.

    Its id follows from the trials that it needs, so that it is known before they are run.
    """

    search: Selection
    trial_unit: TrialUnit
    axes: Mapping[str, Values]
    limits: Mapping[str, int]
    chosen: Mapping[int, tuple[int, Recipe]] = field(default_factory=dict)

    @cached_property
    def id(self) -> str:
        return self._digest("chosen by", self.needs, dict(self.limits), self.seeds, self.width)

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.trial_unit.id,)

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        return _by_transform(Job(self.chosen[split][1], split, seed, self.chosen[split][0]) for split, seed in self.seeds)

    def config_of(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """A study that chose another trial is of no use here."""
        trial, recipe = self.chosen.get(row["split_seed"], (None, self.recipe))
        return recipe.to_json() if row["trial"] == trial else None

    def resolve(self, rows: Iterable[Mapping[str, Any]]) -> "ChosenUnit":
        """With the recipes that the trials choose. ``rows``: those of ``needs``."""
        rows, chosen = list(rows), {}
        for split in dict.fromkeys(split for split, _ in self.seeds):
            own = [row for row in rows if row["split_seed"] == split] if self.trial_unit.alone else rows
            chosen[split] = self._chosen(own)
        return replace(self, chosen=chosen)

    def _chosen(self, rows: Sequence[Mapping[str, Any]]) -> tuple[int, Recipe]:
        choice = choose(rows)
        recipe = self.trial_unit.trials[choice.trial]
        origin = self.search.describe(choice, recipe, self.axes)
        return choice.trial, replace(recipe, origin=origin, settings={**recipe.settings, **self.limits})


def _identity(recipe: Recipe) -> dict[str, Any]:
    """A graph of the user's own is known by its content, wherever it lies."""
    facts = recipe.identity()
    return facts if known_name(recipe.dataset) else {**facts, "dataset": Path(recipe.dataset).name}


def _by_transform(jobs: Iterable[Job]) -> tuple[Job, ...]:
    """Runs on features that are prepared in one way stand together."""
    return tuple(sorted(jobs, key=lambda job: job.recipe.transform))

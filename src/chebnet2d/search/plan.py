"""What a search does, as checked data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chebnet2d._checks import InputError, flag, integer, one_of
from chebnet2d.data import Split
from chebnet2d.data.generated import GENERATED
from chebnet2d.models import parse_method
from chebnet2d.recipes import Recipe, load_recipe
from chebnet2d.search.budget import Budget
from chebnet2d.search.space import Space
from chebnet2d.search.trials import SAMPLERS, STARTUP
from chebnet2d.training import Settings


@dataclass(frozen=True)
class SearchPlan:
    """Which settings are looked for, by what, and for how long.

    Args:
        method: in any of its spellings; default: that of the recipe, else "chebnet2d".
        budget: wall time ("90s", "10m", "2h") or a number of trials, per call of ``search``.
        sampler: "tpe", "random" or "grid" (all points of the space, in an order that jumps about).
        splits: every trial is trained on the splits 0, 1, ... of the kind ``split``; its score is the mean.
        batch: trials that are asked for at once and trained side by side; default: 16, at most a quarter of a number of trials.
        seed: of the sampler and of the initial parameters, which are the same for all trials.
        ranges: values that replace those of ``make_space``, by name.
        recipe: what is not searched, and the baseline; default: the shipped recipe of the method for the dataset.
        baseline: train the recipe first, to its end, to have something to compare with.
        halving: after a quarter, half and the whole of ``patience`` epochs the worse half of the trials of a group leaves.
        epochs, patience, monitor: as in ``Settings``, for every trial.
    """

    method: str | None = None
    budget: Budget | str | int = "10m"
    sampler: str = "tpe"
    splits: int = 3
    split: str = "uniform"
    batch: int | None = None
    seed: int = 0
    ranges: Mapping[str, Sequence[Any]] | None = None
    recipe: Recipe | None = None
    baseline: bool = True
    halving: bool = True
    epochs: int = Settings.epochs
    patience: int = Settings.patience
    monitor: str = Settings.monitor

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", Budget.of(self.budget))
        if self.batch is not None:
            integer("search", "batch", self.batch, 1)
        one_of("search", "sampler", self.sampler, SAMPLERS)
        integer("search", "splits", self.splits, 1)
        integer("search", "seed", self.seed, 0)
        flag("search", "baseline", self.baseline)
        flag("search", "halving", self.halving)
        Settings.of(**self.training)
        asked = None if self.method is None else parse_method(self.method).model
        if asked is not None and self.recipe is not None and asked != self.recipe.method:
            raise InputError("search", "recipe", f"one of the method {asked!r}", self.recipe.method)

    @property
    def training(self) -> dict[str, Any]:
        """Settings that all trials share."""
        return {"epochs": self.epochs, "patience": self.patience, "monitor": self.monitor}

    @property
    def rungs(self) -> tuple[int, ...]:
        """Epochs after which the worse half of the trials of a group leaves."""
        rungs = {self.patience // 4, self.patience // 2, self.patience} if self.halving else set()
        return tuple(sorted(rung for rung in rungs if 1 <= rung < self.epochs))

    def base(self, data: Any) -> Recipe:
        """What is not searched, and the baseline: the recipe for this dataset, without the settings that all trials share."""
        dataset = data.name.removesuffix(GENERATED)
        recipe = load_recipe(self.method or "chebnet2d", dataset) if self.recipe is None else self.recipe
        asked = None if self.method is None else parse_method(self.method).variant
        settings = {name: value for name, value in recipe.settings.items() if name not in self.training}
        return replace(recipe, dataset=dataset, variant=asked or recipe.variant, settings=settings)

    def describe(self, trials: int, group_size: int, *, generated: bool) -> str:
        """For the origin of a recipe: what was compared. Before "tpe" has learned from trials, its points are random."""
        learned = self.sampler != "tpe" or trials > max(STARTUP, group_size)
        where = f"{self.splits} {self.split} split{'s' * (self.splits > 1)}" + " of a generated graph" * generated
        return f"{self.sampler if learned else 'random'}, {trials} trials on {where}, seed {self.seed}"

    def facts(self, base: Recipe, data: Any, splits: Sequence[Split], space: Space) -> dict[str, Any]:
        """What is stored with the trials, and must be the same when a search goes on from them."""
        facts = {"method": base.name, "dataset": data.name, "transform": base.transform, "split": self.split, "seed": self.seed}
        facts |= {"splits": [split.digest for split in splits], "space": {axis.name: list(axis.values) for axis in space.axes}}
        return {**facts, "model": base.arguments, "settings": {**base.settings, **self.training}}

"""From a protocol to units: runs of a few stacks, trained together and committed together.

Rounding depends on which runs share a stack, so stacks are a pure function of the protocol, the data and the recipes, never of
what happened to be finished when a study was started again.
"""

import hashlib
import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chebnet2d import data as datasets
from chebnet2d.models import find_model
from chebnet2d.recipes import Recipe, whole_graph_note
from chebnet2d.study.dataset_cache import DatasetCache
from chebnet2d.study.points import searched_axes, trial_recipes
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.selection import Selection
from chebnet2d.study.units import ChosenUnit, Seeds, TrialUnit, Unit
from chebnet2d.training import Settings, stack_width

STACKS_PER_UNIT = 4
MEMORY = 2**29  # bytes of parameters that trials with rungs may take: all their stacks are in memory at once
_COPIES = 6  # of the parameters: in the model and in the stack, the gradient, two moments and the best state
_SPLITS = 5  # of a nested search in one unit, at most: an interruption costs a unit


def make_plan(protocol: Protocol, cache: DatasetCache, notice: Callable[[str], None] | None = None) -> Iterator[Unit]:
    """All units, dataset by dataset, so that each is loaded once. What no run could be made of raises an error here.

    ``notice``: called with a sentence about graphs that are so large that their runs take long.
    """
    number = itertools.count()
    for dataset in protocol.datasets:
        for method in protocol.methods:
            recipe = protocol.recipe(method, dataset)
            cell = _Cell(number, protocol, cache, method, recipe, cache.load(recipe))
            Settings.of(**recipe.settings)
            recipe.build(cell.data)
            if notice is not None and (note := whole_graph_note(recipe, cell.data)) is not None:
                notice(note)
            if method == protocol.methods[0]:
                cell.check_splits()
            for kind in protocol.kinds_on(dataset):
                yield from cell.units(kind) if protocol.search is None else cell.searched_units(kind, protocol.search)


@dataclass(frozen=True)
class _Cell:
    """A method on a dataset."""

    number: Iterator[int]
    protocol: Protocol
    cache: DatasetCache
    method: str
    recipe: Recipe
    data: Any

    @property
    def splits(self) -> range:
        return self.protocol.split_seeds(self.recipe.dataset)

    def seeds(self, splits: range | list[int]) -> Seeds:
        """Of report runs."""
        inits = self.protocol.inits
        return tuple((split, split * inits + init) for split in splits for init in range(inits))

    def check_splits(self) -> None:
        """Of fixed splits there may be fewer than are asked for."""
        search = self.protocol.search
        development = search.splits if search is not None and search.mode == "development" else ()
        for kind in self.protocol.kinds_on(self.recipe.dataset):
            for seed in (self.splits[-1], *development):
                datasets.split(self.data, kind, seed=seed)

    def units(self, kind: str) -> Iterator[Unit]:
        seeds, width = self.seeds(self.splits), self.width(self.recipe)
        for runs in _cut(seeds, width):
            yield Unit(*self.facts(kind), runs, width, code_digest(self.recipe.method))

    def searched_units(self, kind: str, search: Selection) -> Iterator[Unit]:
        """Trials, and report runs with what they choose: one choice for all splits, or one on each."""
        limits = self.protocol.limits_on(self.recipe.dataset)
        trials = trial_recipes(search, self.method, self.recipe, self.build, limits)
        axes, code = searched_axes(search, self.method, self.recipe), code_digest(self.recipe.method)
        nested = search.mode == "nested"
        groups = self.nested_groups(trials, search) if nested else [list(self.splits)]
        for splits in groups:
            tried = splits if nested else search.splits
            seeds = tuple((split, seed) for split in tried for seed in search.seeds(split))
            width = self.protocol.width
            unit = TrialUnit(*self.facts(kind), seeds, width, code, trials=trials, rungs=search.rungs, alone=nested)
            yield unit
            report = self.seeds(splits)
            for runs in [report] if nested else _cut(report, self.width(self.recipe)):
                how: dict[str, Any] = {"search": search, "trial_unit": unit, "axes": axes, "limits": limits}
                yield ChosenUnit(*self.facts(kind), runs, width, code, **how)

    def facts(self, kind: str) -> tuple[int, str, str, str, Recipe, str]:
        return next(self.number), self.method, self.recipe.dataset, self.cache.digest(self.recipe), self.recipe, kind

    def build(self, recipe: Recipe) -> Any:
        Settings.of(**recipe.settings)
        return recipe.build(self.cache.load(recipe))

    def width(self, recipe: Recipe) -> int:
        return stack_width(self.build(recipe), self.data) if self.protocol.width is None else self.protocol.width

    def nested_groups(self, trials: tuple[Recipe, ...], search: Selection) -> list[list[int]]:
        """Splits whose trials are trained together: enough to fill stacks, of which each shape has its own."""
        models = [self.build(trial) for trial in trials]
        shapes = {(trial.transform, tuple(p.shape for p in m.parameters())) for trial, m in zip(trials, models, strict=True)}
        size = sum(p.numel() * p.element_size() for model in models for p in model.parameters()) * search.inits * _COPIES
        filling = -(-self.width(self.recipe) * len(shapes) // (len(trials) * search.inits))
        count = max(1, min(filling, _SPLITS, MEMORY // size))
        even = -(-len(self.splits) // -(-len(self.splits) // count))
        return [list(self.splits[start : start + even]) for start in range(0, len(self.splits), even)]


def _cut(seeds: Seeds, width: int) -> Iterator[Seeds]:
    """Enough stacks in a unit to keep some cores busy, few enough that an interruption costs little."""
    size = -(-len(seeds) // -(-len(seeds) // (STACKS_PER_UNIT * width)))
    for start in range(0, len(seeds), size):
        yield seeds[start : start + size]


def code_digest(method: str) -> str:
    """Of the file that defines an outside method, on which its numbers depend; "" for methods of the package."""
    cls = find_model(method)
    if cls.__module__.startswith("chebnet2d."):
        return ""
    try:
        file = inspect.getsourcefile(cls)
        return hashlib.sha256(Path(file or "").read_bytes()).hexdigest()[:16]
    except (OSError, TypeError):  # it was typed in an interactive session
        return "no file"

"""The search inside a protocol: how many points each method may try, on what, and for how long."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chebnet2d._checks import InputError, flag, integer, one_of
from chebnet2d.recipes import SEARCHED, STARTED, Recipe
from chebnet2d.study.choice import Choice

MODES = ("development", "nested")
FIRST_SEED = 10**9
"""Initialisations of trials are numbered from here on; those of report runs stay below (checked by ``Protocol``)."""
Values = tuple[Any, ...]


@dataclass(frozen=True)
class Selection:
    """How the settings of every method are chosen. The budget is the same for all by construction.

    Args:
        trials: T, points per method.
        mode: "development": one choice for a dataset, by the mean validation score over ``splits``, which are never reported.
            "nested": a choice on each reported split, by its own validation nodes alone.
        splits: seeds of the development splits.
        inits: initialisations of each trial on each split.
        seed: of the draws.
        start: trial 0 is the method's published or default recipe; else it is drawn as the others are.
        rungs: epochs at which the worse half of the trials leaves; those that left are not chosen.
        epochs, patience: of the trials; None: those of the study.
        space: values by name, for every method that knows the name. Nothing else is searched then. Methods that share a name
            have the same value in the same trial. Empty: the space that each method declares (``search.make_space``).
        ranges: by method, or "all": values that replace those of the declared space.
    """

    trials: int
    mode: str = "development"
    splits: tuple[int, ...] = (100, 101)
    inits: int = 1
    seed: int = 0
    start: bool = True
    rungs: tuple[int, ...] = (100,)
    epochs: int | None = None
    patience: int | None = None
    space: Mapping[str, Values] = field(default_factory=dict)
    ranges: Mapping[str, Mapping[str, Values]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, minimum in (("trials", 1), ("inits", 1), ("seed", 0)):
            integer("search", name, getattr(self, name), minimum)
        for name in ("epochs", "patience"):
            if getattr(self, name) is not None:
                integer("search", name, getattr(self, name), 1)
        one_of("search", "mode", self.mode, MODES)
        flag("search", "start", self.start)
        for name, minimum in (("splits", 0), ("rungs", 1)):
            value = getattr(self, name)
            if not isinstance(value, tuple):
                raise InputError("search", name, "a list of numbers", value)
            for number in value:
                integer("search", f"every number of {name}", number, minimum)
        if any(first >= second for first, second in itertools.pairwise(self.rungs)):
            raise InputError("search", "rungs", "increasing epochs", self.rungs)
        if self.mode == "development" and (not self.splits or len(set(self.splits)) < len(self.splits)):
            raise InputError("search", "splits", "different seeds, at least one", self.splits)
        if self.space and self.ranges:
            raise InputError("search", "ranges", "left out beside space, which is all that is searched", tuple(self.ranges))
        for name, values in _table("space", self.space).items():
            _check_values(f"space.{name}", values)
        for method, table in _table("ranges", self.ranges).items():
            for name, values in _table(f"ranges.{method}", table).items():
                _check_values(f"ranges.{method}.{name}", values)

    @classmethod
    def of(cls, values: Any) -> "Selection":
        """From the table ``[search]`` of a file, or from JSON; a ``Selection`` stays as it is."""
        if isinstance(values, cls):
            return values
        for name in _table("a table", values):
            one_of("search", "a name in [search]", name, tuple(cls.__dataclass_fields__))
        if "trials" not in values:
            raise InputError("search", "trials", "given: how many points each method may try", got="none")
        return cls(**_with_tuples(values))

    def seeds(self, split_seed: int) -> range:
        """Of the initialisations on a split: the same for all trials, and never one of a report run."""
        return range(FIRST_SEED + split_seed * self.inits, FIRST_SEED + (split_seed + 1) * self.inits)

    def describe(self, choice: Choice, recipe: Recipe, axes: Mapping[str, Values]) -> str:
        """For the origin of a chosen recipe: what it was chosen by, from what, and at which cost."""
        on = "its own validation nodes" if self.mode == "nested" else f"development splits {_listed(self.splits)}"
        point = f"{STARTED}{recipe.origin})" if self.start and choice.trial == 0 else ""
        facts = [
            f"trial {choice.trial}{point} of {self.trials} by {on}, {self.inits} initialisation{'s' * (self.inits > 1)}",
            f"validation {choice.metric} {choice.score:.4f}",
            f"rungs {_listed(self.rungs) or 'none'}",
            f"{recipe.settings['epochs']} epochs, patience {recipe.settings['patience']}, seed {self.seed}",
            "space " + ", ".join(f"{name} {'|'.join(map(str, values))}" for name, values in axes.items()),
        ]
        return f"{SEARCHED}: {'; '.join(facts)}"


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _table(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("search", name, "a table of names and values", value)
    return value


def _check_values(name: str, values: Any) -> None:
    if not isinstance(values, tuple) or not values or len(set(map(repr, values))) < len(values):
        raise InputError("search", name, "a list of different values, at least one", values)


def _with_tuples(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _with_tuples(own) for name, own in value.items()}
    return tuple(value) if isinstance(value, list) else value

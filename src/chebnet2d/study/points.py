"""The points that a method tries: drawn by name with a fixed seed, so that methods which share a name share its values.

For each name the values are dealt out evenly (of four values each has a quarter of the trials), in an order that depends on the
seed and the name alone. So what one method tries does not depend on which others there are.
"""

import hashlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.data import CATALOGUE
from chebnet2d.models import find_model, parse_method
from chebnet2d.recipes import Recipe
from chebnet2d.search import make_space
from chebnet2d.search.space import SIZES
from chebnet2d.study.selection import Selection

TRANSFORM = "transform"
_ATTEMPTS = 100


def trial_recipes(
    selection: Selection, method: str, base: Recipe, build: Callable[[Recipe], Any], limits: Mapping[str, int]
) -> tuple[Recipe, ...]:
    """One recipe per trial. ``method``: its name in the protocol; ``base``: what is not searched, and trial 0 if it is to start.

    ``build`` makes a model of a recipe. Not every combination of arguments does: such a point is drawn again, so that T points
    are tried in any case. ``limits``: epochs and patience of the study.
    """
    asked = {"epochs": selection.epochs, "patience": selection.patience}
    stopping = {**limits, **{name: value for name, value in asked.items() if value is not None}}
    base = replace(base, settings={**base.settings, **stopping})
    axes = searched_axes(selection, method, base)
    start = [_within(base, own_ranges(selection, method))] if selection.start else []
    drawn_ones = (_candidates(selection, base, axes, trial) for trial in range(len(start), selection.trials))
    return (*start, *(_possible(candidates, build) for candidates in drawn_ones))


def searched_axes(selection: Selection, method: str, base: Recipe) -> dict[str, tuple[Any, ...]]:
    """Values by name: those of the shared space that the method knows, or the method's own and ways to prepare the features."""
    if selection.space:
        known = known_names(base)
        return {name: values for name, values in selection.space.items() if name in known}
    space = make_space(base.name)
    axes: dict[str, tuple[Any, ...]] = {axis.name: axis.values for axis in space.axes}
    if base.variant != "unified":  # which has the same features for all methods
        words = base.dataset in CATALOGUE and CATALOGUE[base.dataset].words
        axes[TRANSFORM] = ("none", "row-normalize") if words else ("none", "standardize")
    for name, values in selection.ranges.get("all", {}).items():
        if name in axes:
            axes[name] = values
    for name, values in own_ranges(selection, method).items():
        if name not in known_names(base):
            raise InputError("search", f"ranges.{method}", "names that the method knows", name, verb="have")
        axes[name] = values
    return axes


def own_ranges(selection: Selection, method: str) -> Mapping[str, tuple[Any, ...]]:
    """Ranges for this method alone."""
    return next((selection.ranges[key] for key in (method, parse_method(method).model) if key in selection.ranges), {})


def _within(base: Recipe, ranges: Mapping[str, tuple[Any, ...]]) -> Recipe:
    """The start, brought into the ranges of the method: what bounds a method's cost bounds its published settings too."""
    space = make_space(base.name, {name: values for name, values in ranges.items() if name != TRANSFORM})
    near = space.nearest(base)
    changed = {axis.name: axis.values[near[axis.name]] for axis in space.axes if axis.name in ranges}
    arguments = inspect.signature(find_model(base.method)).parameters
    defaults = {name: parameter.default for name, parameter in arguments.items()}
    model = {n: v for n, v in changed.items() if n in arguments and base.model.get(n, defaults[n]) != v}
    settings = {n: v for n, v in changed.items() if n not in arguments and base.settings.get(n) != v}
    if not model and not settings:
        return base
    origin = f"{base.origin}; within the ranges of the study: {', '.join(f'{n} {v}' for n, v in {**model, **settings}.items())}"
    return replace(base, origin=origin, model={**base.model, **model}, settings={**base.settings, **settings})


def known_names(recipe: Recipe) -> set[str]:
    """What can be set for a method: arguments of the model, rates and decays of its groups, and the transform."""
    arguments = {name for name in inspect.signature(find_model(recipe.method)).parameters if name not in SIZES}
    groups = {axis.name for axis in make_space(recipe.name).axes if axis.part == "settings"}
    return arguments | groups | {"optimizer", TRANSFORM}


def drawn(values: Sequence[Any], trials: int, seed: str, name: str) -> list[Any]:
    """A value for each trial: every value equally often, up to one; which trial has which depends on seed and name alone."""
    order = sorted(values, key=lambda value: _number(seed, name, "value", value))
    places = sorted(range(trials), key=lambda trial: _number(seed, name, "trial", trial))
    found: list[Any] = [None] * trials
    for position, trial in enumerate(places):
        found[trial] = order[position % len(order)]
    return found


def _candidates(selection: Selection, base: Recipe, axes: Mapping[str, Sequence[Any]], trial: int) -> Iterator[Recipe]:
    arguments = inspect.signature(find_model(base.method)).parameters
    for attempt in range(_ATTEMPTS):
        seed = str(selection.seed) + (f" again {attempt}" if attempt else "")
        point = {name: drawn(values, selection.trials, seed, name)[trial] for name, values in axes.items()}
        transform = point.pop(TRANSFORM, base.transform)
        model = {name: value for name, value in point.items() if name in arguments}
        settings = {name: value for name, value in point.items() if name not in arguments}
        yield replace(base, transform=transform, model={**base.model, **model}, settings={**base.settings, **settings})


def _possible(candidates: Iterator[Recipe], build: Callable[[Recipe], Any]) -> Recipe:
    error: InputError | None = None
    for recipe in candidates:
        try:
            build(recipe)
        except InputError as found:
            error = found
        else:
            return recipe
    assert error is not None
    raise error


def _number(*facts: Any) -> bytes:
    return hashlib.sha256(json.dumps(facts).encode()).digest()

"""Settings besides the default of an entry: the best so far with one to three of its numbers changed at random."""

import inspect
import json
import zlib
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.auto.portfolio import Entry, is_bound
from chebnet2d.models import find_model
from chebnet2d.recipes import NO_TRANSFORM, Recipe
from chebnet2d.search import make_space

TRANSFORMS = (NO_TRANSFORM, "row-normalize", "standardize")
# Narrower than those of a search, which has more trials to find out which of them lead nowhere.
_RANGES: dict[str, tuple[Any, ...]] = {
    "lr": (0.002, 0.005, 0.01, 0.02, 0.05),
    "weight_decay": (0.0, 1e-5, 1e-4, 5e-4, 5e-3),
    "dropout": (0.0, 0.2, 0.4, 0.5, 0.6, 0.8),
    "degree": (2, 4, 6, 8, 10, 12),
}
_HIDDEN = (32, 64, 128)
_FIXED = ("inputs", "epochs", "patience", "monitor")  # an entry is its inputs
_ATTEMPTS = 50

Axes = list[tuple[str, str, tuple[Any, ...]]]
"""(part of the recipe, name, values)."""


def make_axes(entry: Entry, data: Any) -> Axes:
    """What may change. Transforms are among it where the features are taken as they are: encoded ones are scaled already."""
    method = entry.recipe.method
    axes: Axes = []
    for axis in make_space(method).axes:
        if axis.name not in _FIXED and len(axis.values) > 1:
            narrow = [values for ending, values in _RANGES.items() if axis.name == ending or axis.name.endswith(f"_{ending}")]
            axes.append((axis.part, axis.name, narrow[0] if narrow else axis.values))
    names = {name for _, name, _ in axes}
    if "hidden_channels" in inspect.signature(find_model(method)).parameters and "hidden_channels" not in names:
        axes.append(("model", "hidden_channels", _HIDDEN))
    if axes and not _encoded(data) and method != "boosting":  # trees do not mind the scale of a column
        axes.append(("transform", "transform", TRANSFORMS))
    return axes


def draw(
    entry: Entry, data: Any, number: int, best: Recipe, tried: Collection[str], seed: int, *, inductive: bool
) -> Recipe | None:
    """Settings of that number, a function of its arguments; None where nothing new was found.

    ``tried``: keys of recipes (``key_of``). The first draw on features as they are is the default, standardised: the one change
    that saves a graph whose columns have different scales.
    """
    axes = make_axes(entry, data)
    rng = np.random.default_rng([seed, zlib.crc32(entry.name.encode()), number])
    first = [replace(entry.recipe, transform="standardize")] if number == 1 and any(a[0] == "transform" for a in axes) else []
    for attempt in range(_ATTEMPTS if axes else 0):
        recipe = first[attempt] if attempt < len(first) else _changed(best, axes, rng)
        if key_of(recipe) in tried:
            continue
        try:
            if not (is_bound(recipe, data) and inductive):
                return recipe
        except InputError:  # not every combination of arguments makes a model
            continue
    return None


def key_of(recipe: Recipe) -> str:
    return json.dumps(recipe.identity(), sort_keys=True)


def _changed(base: Recipe, axes: Axes, rng: np.random.Generator) -> Recipe:
    count = min(len(axes), 1 + int(rng.integers(3)))
    parts: dict[str, dict[str, Any]] = {"model": dict(base.model), "settings": dict(base.settings), "transform": {}}
    for place in rng.choice(len(axes), size=count, replace=False):
        part, name, values = axes[place]
        parts[part][name] = values[int(rng.integers(len(values)))]
    return replace(base, model=parts["model"], settings=parts["settings"], **parts["transform"])


def _encoded(data: Any) -> bool:
    preparation = data.get("preparation")
    return preparation is not None and (preparation.encoding is not None or preparation.transform != NO_TRANSFORM)

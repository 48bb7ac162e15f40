"""A recipe with some of its numbers replaced, each checked before anything is read."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chebnet2d._checks import InputError, one_of
from chebnet2d.data import TRANSFORMS
from chebnet2d.models import find_model
from chebnet2d.recipes.recipe import NO_TRANSFORM, Recipe
from chebnet2d.training import Settings


def change_recipe(
    recipe: Recipe,
    *,
    model: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    transform: str | None = None,
) -> Recipe:
    """``model``: arguments of the method; ``settings``: of ``Settings.of``; ``transform``: None leaves that of the recipe."""
    owner, cls = "change_recipe", find_model(recipe.method)
    for name in model or {}:
        if name not in inspect.signature(cls).parameters:
            raise InputError(owner, name, "an argument of the method", got=f"it with {recipe.method!r}, which has none")
    for name in ("filter_lr", "filter_weight_decay"):
        if name in (settings or {}) and "filter" not in cls.groups:
            raise InputError(owner, name, "of a method with a learned filter", got=f"it with {recipe.method!r}")
    numbers = {**recipe.settings, **(settings or {})}
    Settings.of(**numbers)
    chosen = one_of(owner, "transform", recipe.transform if transform is None else transform, (NO_TRANSFORM, *TRANSFORMS))
    return replace(recipe, transform=chosen, model={**recipe.model, **(model or {})}, settings=numbers)

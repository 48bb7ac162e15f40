"""From a recipe to a model that reads bases."""

from typing import Any

from chebnet2d.models import OnBases, StoredBases, on_bases
from chebnet2d.recipes.recipe import Recipe

_FILTER_FIRST = "filter-first"


def build_on_bases(recipe: Recipe, bases: StoredBases, reading: str = _FILTER_FIRST, **arguments: Any) -> OnBases:
    """``arguments`` take the place of those of the recipe. Dropout between MLP and filter has no place where the filter is first."""
    own = {name: value for name, value in recipe.model.items() if reading != _FILTER_FIRST or name != "filter_dropout"}
    return on_bases(recipe.method, bases, reading=reading, **{**own, **arguments})

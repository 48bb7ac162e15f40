"""What the search of a study has chosen, as recipes: the way from a comparison to a training."""

from collections.abc import Iterable, Mapping
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.recipes import Recipe


def presets_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Recipe]]:
    """By the name of the method, a recipe for each dataset that was searched. ``rows``: the report runs of a study.

    A nested search chooses on every split: it has no settings of a dataset, and is refused.
    """
    found: dict[str, dict[str, Recipe]] = {}
    for row in rows:
        if row["trial"] is None:  # not searched
            continue
        recipe = Recipe(**row["config"])
        earlier = found.setdefault(recipe.name, {}).setdefault(recipe.dataset, recipe)
        if earlier != recipe:
            hint = 'In the protocol, [search] with mode = "development" chooses once for all splits.'
            where = f"{recipe.name} on {recipe.dataset}"
            raise InputError(
                "presets", "the study", "one choice for each method and dataset", got=f"several for {where}", hint=hint
            )
    if not found:
        raise InputError("presets", "the study", "runs whose settings its search chose", got="none", verb="have")
    return {method: list(recipes.values()) for method, recipes in found.items()}

"""How a method is run on data: recipes that are known to work, shipped with the package or from a file."""

from chebnet2d.recipes.changes import change_recipe
from chebnet2d.recipes.files import (
    DEFAULT,
    canonical_name,
    check_recipe_file,
    load_recipe,
    read_recipes,
    search_ranges,
    shipped_recipes,
    write_recipe,
)
from chebnet2d.recipes.recipe import NO_TRANSFORM, SEARCHED, Recipe

__all__ = [
    "DEFAULT",
    "NO_TRANSFORM",
    "SEARCHED",
    "Recipe",
    "canonical_name",
    "change_recipe",
    "check_recipe_file",
    "load_recipe",
    "read_recipes",
    "search_ranges",
    "shipped_recipes",
    "write_recipe",
]

"""How a method is run on data: recipes that are known to work, shipped with the package or from a file."""

from chebnet2d.recipes.files import canonical_name, load_recipe, search_ranges, shipped_recipes, write_recipe
from chebnet2d.recipes.recipe import NO_TRANSFORM, Recipe

__all__ = ["NO_TRANSFORM", "Recipe", "canonical_name", "load_recipe", "search_ranges", "shipped_recipes", "write_recipe"]

"""How a method is run on data: recipes that are known to work, shipped with the package or from a file."""

from chebnet2d.recipes.changes import change_recipe
from chebnet2d.recipes.files import (
    DEFAULT,
    canonical_name,
    check_recipe_file,
    check_recipe_folder,
    chosen_recipes,
    known_recipe,
    load_recipe,
    read_recipes,
    search_ranges,
    shipped_recipes,
    write_recipe,
    write_recipes,
)
from chebnet2d.recipes.on_disk import AUTO, NEVER, choose_way, make_bases, memory_for_rows, whole_graph_note
from chebnet2d.recipes.recipe import CLASS_DEFAULTS, NO_TRANSFORM, SEARCHED, STARTED, Recipe, short_origin
from chebnet2d.recipes.ways import ROWS, steps_in_place_of_epochs

__all__ = [
    "AUTO",
    "CLASS_DEFAULTS",
    "DEFAULT",
    "NEVER",
    "NO_TRANSFORM",
    "ROWS",
    "SEARCHED",
    "STARTED",
    "Recipe",
    "canonical_name",
    "change_recipe",
    "check_recipe_file",
    "check_recipe_folder",
    "choose_way",
    "chosen_recipes",
    "known_recipe",
    "load_recipe",
    "make_bases",
    "memory_for_rows",
    "read_recipes",
    "search_ranges",
    "shipped_recipes",
    "short_origin",
    "steps_in_place_of_epochs",
    "whole_graph_note",
    "write_recipe",
    "write_recipes",
]

"""A candidate on bases on disk, where the whole graph at once takes too much memory or too long: one fold after the other."""

import copy
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from chebnet2d.auto.problem import Problem
from chebnet2d.bases import Bases
from chebnet2d.models import NodeClassifier
from chebnet2d.polynomials import get_basis
from chebnet2d.recipes import AUTO, DEFAULT, ROWS, Recipe, choose_way, load_recipe, make_bases, steps_in_place_of_epochs

KEPT = 3
"""Bases that are on the disk at a time: draws change the degree and the transform, and with them the bases."""


def takes_bases(data: Any) -> bool:
    """Whether the graph is one for bases, by what ChebNet2D's default takes of memory and time as a whole."""
    recipe = load_recipe("chebnet2d", DEFAULT)
    data = recipe.prepare(data)
    model = recipe.build(data)
    assert isinstance(model, NodeClassifier)
    return choose_way(recipe, model, data, asked=AUTO).bases


def bases_of(problem: Problem, recipe: Recipe, data: Any) -> Bases:
    """Of all nodes of the prepared graph, for the method of the recipe; those of an earlier candidate where they are the same."""
    assert problem.bases is not None
    spec = recipe.bases_spec(data.num_features, "all")
    own = problem.bases / f"{recipe.transform}-{get_basis(spec.basis).name}-{spec.operator}-{spec.degree}"
    if not own.is_dir() and problem.bases.is_dir():
        _make_room(problem.bases)
    made = make_bases(recipe, copy.copy(data), own, rows="all")
    os.utime(own)
    return made


def recipe_on_bases(recipe: Recipe, rows: int) -> Recipe:
    """With epochs that have as many steps as those of a full batch. ``rows``: training nodes of a fold."""
    others = {name: value for name, value in recipe.settings.items() if name not in ("epochs", "patience")}
    return replace(recipe, settings=steps_in_place_of_epochs(others, rows, ROWS))


def _make_room(folder: Path) -> None:
    """Those that were used last stay."""
    known = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in known[: max(0, len(known) - KEPT + 1)]:
        shutil.rmtree(path)

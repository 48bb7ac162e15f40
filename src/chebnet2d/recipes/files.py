"""Recipes in files, called presets: shipped with the package for each method and dataset, or found by a search.

The package has two kinds: ``presets/METHOD.toml``, published by the method's authors or found by single searches, and
``chosen/STUDY/METHOD.toml``, chosen by a study with one budget for all methods and written by ``chebnet2d study presets``.

A preset file is TOML, one table per dataset, ``[default]`` for all others::

    [cora]
    origin = "ivam-he/ChebNetII: main/full.sh"
    transform = "row-normalize"
    model = { degree = 10, dropout = 0.5 }
    settings = { lr = 0.01, weight_decay = 5e-4, filter_lr = 0.01 }
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._documents import read_document
from chebnet2d._targets import Mark, check_target, is_ours, written_whole
from chebnet2d.data.catalogue import CATALOGUE, known_name
from chebnet2d.models import find_model, parse_method
from chebnet2d.recipes.recipe import CLASS_DEFAULTS, NO_TRANSFORM, SEARCHED, Recipe

DEFAULT = "default"
WRITTEN = "# written by: chebnet2d"
"""How the preset of a search begins."""
_SEARCH = "search"
_FOR_WORDS = "row-normalize"  # what is done to counts of words, and to no other features
SHARED_MLP = {"hidden_channels": 64, "dropout": 0.5}
"""Of the unified architecture, with the usual two layers; no method has its own there."""
_KINDS = {"origin": (str, "a sentence"), "model": (dict, "a table"), "settings": (dict, "a table")}


def load_recipe(method: str, dataset: str, path: str | Path | None = None, *, searched: bool = True) -> Recipe:
    """The recipe of a method for a dataset: from a file of the user's, else from the package, else the defaults of the class.

    ``method:unified`` without a file: the shipped recipe in the unified architecture. Learning rates, weight decays and filter
    are the method's own; features, MLP and optimiser, which the authors of methods chose differently, are the same for all.
    A file is taken as it is.

    ``searched``: False passes over shipped settings that a search has found, for a comparison that counts what searching costs:
    settings of the method's authors or its default come in their place.
    """
    asked = parse_method(method)
    find_model(asked.model)
    dataset = canonical_name(dataset)
    known = shipped_recipes(method) if path is None else read_recipes(path, method)
    where = f"the presets of {asked.model!r}" if path is None else str(path)
    if path is None and not searched:
        known = {name: recipe for name, recipe in known.items() if not recipe.origin.startswith(SEARCHED)}
    name = dataset if dataset in known else DEFAULT
    if name not in known:
        raise InputError("load_recipe", where, f"a table [{dataset}] or [default]", got=", ".join(known) or "none", verb="have")
    recipe = replace(known[name], dataset=dataset)
    if recipe.method != asked.model:
        raise InputError("load_recipe", f"[{name}] in {where}", f"of the method {asked.model!r}", recipe.method)
    counts_words = dataset in CATALOGUE and CATALOGUE[dataset].words
    if path is None and asked.variant == "unified":
        model = {**{name: value for name, value in recipe.model.items() if name != "num_layers"}, **SHARED_MLP}
        settings = {name: value for name, value in recipe.settings.items() if name != "optimizer"}
        recipe = replace(recipe, transform=_FOR_WORDS if counts_words else NO_TRANSFORM, model=model, settings=settings)
    elif path is None and name == DEFAULT and recipe.transform == _FOR_WORDS and not counts_words:
        recipe = replace(recipe, transform=NO_TRANSFORM)
    return replace(recipe, variant=asked.variant or recipe.variant)


def shipped_recipes(method: str) -> dict[str, Recipe]:
    """Those of the package, by dataset, and "default" for all others; of an outside method the defaults of its class."""
    return _recipes(_shipped_tables(method), parse_method(method).model, f"the presets of {method!r}")


def chosen_recipes(method: str) -> dict[str, Recipe]:
    """Those that studies with one budget for all methods chose, by dataset; of a variant that no study has searched none."""
    asked = parse_method(method)
    found: dict[str, Recipe] = {}
    for study in sorted(files("chebnet2d").joinpath("recipes", "chosen").iterdir(), key=lambda folder: folder.name):
        source = study.joinpath(f"{asked.model}.toml")
        if asked.variant is None and source.is_file():
            where = f"what {study.name} chose for {method!r}"
            found |= _recipes(tomllib.loads(source.read_text(encoding="utf-8")), asked.model, where)
    return found


def known_recipe(method: str, dataset: str) -> Recipe | None:
    """What the package knows of a method on this very dataset: chosen by a study, else published; None where it knows nothing."""
    name = canonical_name(dataset)
    if (chosen := chosen_recipes(method).get(name)) is not None:
        return chosen
    return load_recipe(method, name) if name in shipped_recipes(method) else None


def search_ranges(method: str) -> dict[str, dict[str, list[Any]]]:
    """Values to search besides the usual ones, by name, for "model" and "settings": from its presets, else from its class."""
    return dict(_shipped_tables(method).get(_SEARCH) or find_model(method).search_space)


def read_recipes(path: str | Path, method: str) -> dict[str, Recipe]:
    """The recipes of a file, by dataset. ``method``: of tables that do not name theirs."""
    return _recipes(read_toml("load_recipe", "path", path, "a preset file"), parse_method(method).model, str(path))


def check_recipe_file(owner: str, argument: str, path: Path, *, force: bool = False) -> None:
    """Before the work: whether a search may write its preset there. Without ``force`` it replaces only what a search wrote."""
    if path.suffix != ".toml":
        raise InputError(owner, argument, "a file that ends in .toml", str(path))
    check_target(owner, argument, path, marks=[Mark(WRITTEN.encode())], force=force)


def check_recipe_folder(owner: str, argument: str, folder: Path, paths: Iterable[Path], *, force: bool = False) -> None:
    """The same for several files in a folder of their own: without ``force`` there is nothing else in it."""
    if not force and folder.is_dir() and not all(map(_is_preset, folder.iterdir())):
        rule = "a new or empty folder, or one with presets of this command alone"
        raise InputError(owner, argument, rule, str(folder), "Files of presets in it are replaced with --force.")
    for path in paths:
        check_recipe_file(owner, argument, path, force=force)


def write_recipe(path: str | Path, recipe: Recipe, notes: Mapping[str, Any] | None = None) -> None:
    """A preset file with one table; ``notes`` become comments."""
    write_recipes(path, [recipe], notes)


def write_recipes(path: str | Path, recipes: Iterable[Recipe], notes: Mapping[str, Any] | None = None) -> None:
    """A preset file with a table for the dataset of each recipe; ``notes`` become comments."""
    lines = [f"# {key}: {value}" for key, value in (notes or {}).items()]
    for recipe in recipes:
        facts = recipe.to_json()
        lines.append(f"[{_toml_key(facts.pop('dataset'))}]")
        lines += [*(f"{name} = {_toml_value(value)}" for name, value in facts.items()), ""]
    with written_whole(Path(path)) as temporary:
        temporary.write_text("\n".join(lines), encoding="utf-8")


def _is_preset(path: Path) -> bool:
    return path.is_file() and is_ours(path, [Mark(WRITTEN.encode())])


def canonical_name(dataset: str) -> str:
    """The name that presets, tables and the paper's numbers have it by. What the catalogue does not know stays as it is."""
    return known_name(dataset) or dataset


def _shipped_tables(method: str) -> dict[str, Any]:
    source = files("chebnet2d").joinpath("recipes", "presets", f"{parse_method(method).model}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8")) if source.is_file() else {DEFAULT: {"origin": CLASS_DEFAULTS}}


def _recipes(tables: Mapping[str, Any], method: str, where: str) -> dict[str, Recipe]:
    found = {canonical_name(name): _recipe(name, table, method, where) for name, table in tables.items() if name != _SEARCH}
    if len(found) < len(tables.keys() - {_SEARCH}):
        raise InputError("load_recipe", where, "one table per dataset", got=", ".join(tables), verb="have")
    return found


def _recipe(name: str, table: Any, method: str, where: str) -> Recipe:
    if not isinstance(table, dict):
        raise InputError("load_recipe", f"{name} in {where}", "a table", table, f"Write [{name}], with the settings below it.")
    values, place = {"method": method, "origin": where, **table}, f"[{name}] in {where}"
    for key, value in values.items():
        if key not in (*_KINDS, "method", "transform"):
            raise InputError("load_recipe", place, "origin, transform, model and settings", key, verb="have")
        kind, rule = _KINDS.get(key, (object, ""))  # the others are checked by the recipe
        if not isinstance(value, kind):
            raise InputError("load_recipe", f"{key} of {place}", rule, value)
    return Recipe(dataset=canonical_name(name), **values)


def read_toml(owner: str, argument: str, path: str | Path, what: str = "a TOML file") -> dict[str, Any]:
    """``owner`` and ``argument`` take the blame; ``what``: the kind of file that is expected."""
    try:
        Path(path).stat()
    except FileNotFoundError:
        raise InputError(owner, argument, what, got=f"{str(path)!r}, which does not exist") from None
    except (OSError, ValueError) as error:
        raise InputError(owner, argument, what, got=f"{str(path)!r}: {getattr(error, 'strerror', error)}") from None
    content: dict[str, Any] = read_document(owner, Path(path), "TOML", argument=argument, what=what)
    return content


def _toml_key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else _toml_value(name)


def _toml_value(value: Any) -> str:
    """On one line. Numbers, strings and lists of them are written in TOML as in JSON; what is None is left out."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml_key(k)} = {_toml_value(v)}" for k, v in value.items() if v is not None) + " }"
    return json.dumps(value, ensure_ascii=False)

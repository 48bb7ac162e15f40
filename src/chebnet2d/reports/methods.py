"""What is known of a method: its formula, its size on a dataset, and the settings that it is run with."""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chebnet2d import data as datasets
from chebnet2d.models import MODELS, find_model
from chebnet2d.recipes import chosen_recipes, load_recipe, search_ranges, shipped_recipes

_ORDER = ("2d", "I", "II", "III", "-")


def summarize_methods(dataset: str = "cora", root: str | Path | None = None) -> list[dict[str, Any]]:
    """A record per registered method, by paradigm and name."""
    sizes = _sizes(dataset, root)
    names = sorted(MODELS, key=lambda name: (_ORDER.index(MODELS[name].info.paradigm), name))
    return [_summary(name, dataset, sizes) for name in names]


def describe_method(method: str, dataset: str = "cora", root: str | Path | None = None) -> dict[str, Any]:
    """All of one method: what ``summarize_methods`` has, and formula, arguments, optimiser groups, recipes, search ranges."""
    model = find_model(method)
    arguments = inspect.signature(model).parameters.values()
    return {
        **_summary(method, dataset, _sizes(dataset, root)),
        "dataset": dataset,
        "formula": model.info.formula,
        "departures": model.info.departures,
        "arguments": {argument.name: argument.default for argument in arguments if argument.default is not argument.empty},
        "groups": {group: list(prefixes) for group, prefixes in model.groups.items()},
        "presets": {name: recipe.to_json() for name, recipe in shipped_recipes(method).items()},
        "chosen": {name: recipe.to_json() for name, recipe in chosen_recipes(method).items()},
        "search": search_ranges(method),
    }


def cited(citation: str) -> str:
    """Authors and year of "Authors: title. Venue year"; a citation of another form as it is."""
    authors, colon, rest = citation.partition(": ")
    _, dot, venue = rest.rpartition(". ")
    if not (colon and dot):
        return citation
    first, *others = authors.split(", ")
    names = f"{first} et al." if len(others) > 1 else " and ".join([first, *others])
    return f"{names}, {venue}"


def _sizes(dataset: str, root: str | Path | None) -> dict[str, int]:
    """From the catalogue where it knows them, so that no file is read; else from the dataset itself."""
    entry = datasets.CATALOGUE.get(dataset.strip().lower())
    if entry is not None:
        known = entry.statistics
        if known.features is not None and known.classes is not None and known.nodes is not None:
            return {"in_channels": known.features, "out_channels": known.classes, "num_nodes": known.nodes}
    loaded = datasets.load(dataset, root=root)
    return {"in_channels": loaded.num_features, "out_channels": datasets.num_classes(loaded), "num_nodes": loaded.num_nodes}


def _summary(method: str, dataset: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    model = find_model(method)
    known = inspect.signature(model).parameters
    arguments = {**sizes, **load_recipe(method, dataset).model}
    built = model(**{name: value for name, value in arguments.items() if name in known})
    return {
        "name": method,
        "title": model.info.title,
        "paradigm": model.info.paradigm,
        "basis": model.info.basis,
        "citation": model.info.citation,
        "parameters": sum(parameter.numel() for parameter in built.parameters()),
        "variants": ["faithful", "unified"] if "variant" in known else ["faithful"],
    }

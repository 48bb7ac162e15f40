"""models: which methods there are, what each computes, and with which settings it is run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")]
DataRoot = Annotated[Path | None, typer.Option(help="Folder with datasets; default: $CHEBNET2D_DATA.")]
ORDER = ("2d", "I", "II", "III", "-")


def models(
    name: Annotated[str | None, typer.Argument(help="Show one method in full.")] = None,
    dataset: Annotated[str, typer.Option(help="Count parameters for this dataset.")] = "cora",
    json: Json = False,
    data_root: DataRoot = None,
) -> None:
    """List the methods, or show the formula and the settings of one.

    Example: chebnet2d models jacobiconv --dataset citeseer
    """
    from chebnet2d.cli.console import print_json
    from chebnet2d.models import MODELS, find_model

    if name is not None:
        find_model(name)
    sizes = _sizes(dataset, data_root)
    if name is not None:
        record = _describe(name, dataset, sizes)
        if json:
            print_json(record)
        else:
            _show(record)
        return
    names = sorted(MODELS, key=lambda known: (ORDER.index(MODELS[known].info.paradigm), known))
    records = [_summary(known, dataset, sizes) for known in names]
    if json:
        print_json({"dataset": dataset, "models": records})
        return
    table = _table("name", "paradigm", "basis", f"parameters ({dataset})", "citation")
    for record in records:
        table.add_row(
            record["name"], record["paradigm"], record["basis"], _count(record["parameters"]), cited(record["citation"])
        )
    _print(table)
    print(
        "Paradigm: I one filter, II one filter and a map between channels, III one filter a channel, 2d one a pair of channels."
    )
    print("Show one with its formula and settings: chebnet2d models NAME")


def _sizes(dataset: str, data_root: Path | None) -> dict[str, int]:
    """From the catalogue where it knows them, so that no file is read; else from the dataset itself."""
    from chebnet2d import data

    entry = data.CATALOGUE.get(dataset.strip().lower())
    if entry is not None:
        known = entry.statistics
        if known.features is not None and known.classes is not None and known.nodes is not None:
            return {"in_channels": known.features, "out_channels": known.classes, "num_nodes": known.nodes}
    loaded = data.load(dataset, root=data_root)
    return {"in_channels": loaded.num_features, "out_channels": data.num_classes(loaded), "num_nodes": loaded.num_nodes}


def _presets(name: str) -> dict[str, Any]:
    from chebnet2d.recipes import shipped_recipes

    parts = ("origin", "transform", "model", "settings")
    recipes = {key: recipe.to_json() for key, recipe in shipped_recipes(name).items()}
    return {key: {part: recipe[part] for part in parts} for key, recipe in recipes.items()}


def _parameters(name: str, sizes: Mapping[str, int], arguments: Mapping[str, Any]) -> int:
    import inspect

    from chebnet2d.models import find_model

    model = find_model(name)
    known = inspect.signature(model).parameters
    built = model(**{key: value for key, value in {**sizes, **arguments}.items() if key in known})
    return sum(parameter.numel() for parameter in built.parameters())


def _summary(name: str, dataset: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    import inspect

    from chebnet2d.models import CANNOT_STACK, find_model

    model, presets = find_model(name), _presets(name)
    preset = presets.get(dataset) or presets.get("default") or {}
    return {
        "name": name,
        "title": model.info.title,
        "paradigm": model.info.paradigm,
        "basis": model.info.basis,
        "citation": model.info.citation,
        "parameters": _parameters(name, sizes, preset.get("model", {})),
        "variants": ["faithful", "unified"] if "variant" in inspect.signature(model).parameters else ["faithful"],
        "cannot_stack": CANNOT_STACK.get(name),
    }


def _describe(name: str, dataset: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    import inspect

    from chebnet2d.models import find_model
    from chebnet2d.recipes import search_ranges

    model, presets = find_model(name), _presets(name)
    arguments = inspect.signature(model).parameters.values()
    return {
        **_summary(name, dataset, sizes),
        "dataset": dataset,
        "formula": model.info.formula,
        "departures": model.info.departures,
        "arguments": {argument.name: argument.default for argument in arguments if argument.default is not argument.empty},
        "groups": {group: list(prefixes) for group, prefixes in model.groups.items()},
        "presets": presets,
        "search": search_ranges(name),
    }


def _show(record: Mapping[str, Any]) -> None:
    print(f"{record['title']}  (paradigm {record['paradigm']}; basis: {record['basis']})")
    print(record["citation"])
    print()
    print(record["formula"])
    if record["departures"]:
        print(f"\nDepartures: {record['departures']}")
    if record["cannot_stack"]:
        print(f"\nRuns are trained one after the other: {record['cannot_stack']}")
    print(f"\nParameters on {record['dataset']}: {_count(record['parameters'])}")
    print(f"Arguments: {_pairs(record['arguments'])}")
    groups = ", ".join(f"{group} ({', '.join(prefixes)})" for group, prefixes in record["groups"].items())
    print(f"Optimiser groups: weights{', ' + groups if groups else ''}")
    table = _table("dataset", "model", "settings", "features", "origin")
    for dataset, preset in record["presets"].items():
        model, settings = _pairs(preset.get("model", {})), _pairs(preset.get("settings", {}))
        table.add_row(dataset, model, settings, preset.get("transform", "none"), preset.get("origin", ""))
    _print(table)
    for part, ranges in record["search"].items():
        for key, values in ranges.items():
            print(f"Search {part} {key}: {', '.join(map(str, values))}")


def cited(citation: str) -> str:
    """Authors and year of "Authors: title. Venue year"; a citation of another form as it is."""
    authors, colon, rest = citation.partition(": ")
    _, dot, venue = rest.rpartition(". ")
    if not (colon and dot):
        return citation
    first, *others = authors.split(", ")
    names = f"{first} et al." if len(others) > 1 else " and ".join([first, *others])
    return f"{names}, {venue}"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in values.items())


def _count(number: int) -> str:
    return f"{number:,}"


def _table(*columns: str) -> Any:
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column.startswith("parameters") else "left", overflow="fold")
    return table


def _print(table: Any) -> None:
    """Wide when stdout is a file or a pipe: a line for each row is easier to search."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=400)
    console.print(table)

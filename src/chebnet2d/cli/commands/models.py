"""models: which methods there are, what each computes, and with which settings it is run."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also


@command("models", order=50)
def models(
    method: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show one method in full."), Also("find_model.name")
    ] = None,
    dataset: Annotated[str, typer.Option(help="Count parameters for this dataset."), Also("name")] = "cora",
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """List the methods, or show the formula and the settings of one.

    Example: chebnet2d models jacobiconv --dataset citeseer
    """
    from chebnet2d.cli.console import print_json
    from chebnet2d.reports.methods import cited, describe_method, summarize_methods

    if method is not None:
        record = describe_method(method, dataset, data_root)
        return print_json(record) if json else _show(record)
    records = summarize_methods(dataset, data_root)
    if json:
        return print_json({"dataset": dataset, "models": records})
    from chebnet2d.cli.tables import make_table, number, print_table

    columns = ("name", "paradigm", "basis", f"parameters ({dataset})", "citation")
    table = make_table(*columns, left=[column for column in columns if column != columns[3]], fold=True)
    for one in records:
        table.add_row(one["name"], one["paradigm"], one["basis"], number(one["parameters"]), cited(one["citation"]))
    print_table(table, width=_WIDTH)
    print("Paradigm: I one filter, II one filter and a map between channels, III one filter per channel,")
    print("2d one filter per pair of channels.")
    print("Show one with its formula and settings: chebnet2d models NAME")
    return None


_WIDTH = 400  # where stdout is no terminal: a line for each row is easier to search


def _show(record: Mapping[str, Any]) -> None:
    from chebnet2d.cli.tables import make_table, number, pairs, print_table
    from chebnet2d.recipes import short_origin

    print(f"{record['title']}  (paradigm {record['paradigm']}; basis: {record['basis']})")
    print(f"{record['citation']}\n\n{record['formula']}")
    if record["departures"]:
        print(f"\nDepartures: {record['departures']}")
    print(f"\nParameters on {record['dataset']}: {number(record['parameters'])}")
    print(f"Arguments: {pairs(record['arguments'])}")
    groups = ", ".join(f"{group} ({', '.join(prefixes)})" for group, prefixes in record["groups"].items())
    print(f"Optimiser groups: weights{', ' + groups if groups else ''}")
    columns = ("dataset", "model", "settings", "features", "origin")
    table = make_table(*columns, left=columns, fold=True)
    for dataset, recipe in (*record["presets"].items(), *record["chosen"].items()):
        values = (pairs(recipe["model"]), pairs(recipe["settings"]), recipe["transform"], short_origin(recipe["origin"]))
        table.add_row(dataset, *values)
    print_table(table, width=_WIDTH)
    for part, ranges in record["search"].items():
        for key, values in ranges.items():
            print(f"Search {part} {key}: {', '.join(map(str, values))}")

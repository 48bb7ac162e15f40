"""data check: whether the files are those of the catalogue."""

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command

_LABELS = {
    "edges": "undirected edges",
    "homophily": "edge homophily",
    "isolated": "isolated nodes",
    "twins": "same neighbours and label",
    "duplicates": "... and same features",
}


@command("data check", order=130)
def check(name: options.DatasetName, json: options.Json = False, data_root: options.DataRoot = None) -> None:
    """Count a dataset and compare with the catalogue and the paper. Exit code 1 if the files differ from the catalogue.

    Example: chebnet2d data check cora
    """
    from dataclasses import fields

    from chebnet2d import data
    from chebnet2d.cli.console import print_json
    from chebnet2d.cli.tables import make_table, number, print_table
    from chebnet2d.data.generated import GENERATED

    result = data.check(name, data_root)
    if json:
        print_json(result.to_dict())
    else:
        table = make_table(result.entry.name + (GENERATED if result.generated else ""), "files", "catalogue", "paper")
        for field in fields(result.found):
            columns = (result.found, result.entry.statistics, result.entry.paper)
            values = [number(getattr(column, field.name, None)) for column in columns]
            table.add_row(_LABELS.get(field.name, field.name), *values)
        table.add_row("digest", result.digest, result.entry.digest or "", "")
        print_table(table)
        notes = (("note", result.departures), ("known trouble", result.entry.trouble), ("DIFFERENT", result.mismatches))
        for title, lines in notes:
            for line in lines:
                print(f"{title}: {line}")
        print("as in the catalogue" if result.ok else "the files are not those of the catalogue")
    if not result.ok:
        raise typer.Exit(1)

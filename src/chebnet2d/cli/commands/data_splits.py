"""data splits: how a dataset is cut."""

from typing import Annotated, Any

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("data splits", order=140)
def splits(
    name: Annotated[str, typer.Argument(help="Name of a dataset, embedded ones included.")],
    kind: Annotated[str | None, typer.Option(help="One kind of split; default: all that the dataset admits.")] = None,
    seed: Annotated[int, typer.Option(help="Seed, or number of a fixed split.")] = 0,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Show how each kind of split cuts a dataset: sizes, classes in each part, and what follows from it.

    Example: chebnet2d data splits cora --kind balanced --seed 1
    """
    from chebnet2d import data
    from chebnet2d._checks import InputError, integer
    from chebnet2d.cli.console import print_json
    from chebnet2d.cli.tables import make_table, number, print_table

    integer("data splits", "seed", seed, 0)  # else every kind of split says so for itself, as if it could not cut the dataset
    graph = data.load(name, data_root)
    reports: list[dict[str, Any]] = []
    refused: dict[str, str] = {}
    for candidate in [kind] if kind else data.SPLIT_KINDS:
        try:
            reports.append(data.split_report(data.split(graph, candidate, seed=seed), graph))
        except InputError as error:
            if kind:
                raise
            refused[candidate] = error.sentence(owner="")
    if json:
        print_json({"dataset": graph.name, "seed": seed, "splits": reports, "not_possible": refused})
        return
    for report in reports:
        table = make_table(f"{report['name']}, seed {report['seed']}", "nodes", "share", *report["classes"])
        for part, size in report["sizes"].items():
            share, counts = f"{100 * report['shares'][part]:.1f} %", map(number, report["class_counts"][part])
            table.add_row(part, number(size), share, *counts)
        print_table(table)
        print(f"digest {report['digest']}")
        for note in report["notes"]:
            print(f"- {note}")
        print()
    for candidate, reason in refused.items():
        print(f"{candidate}: {reason}")

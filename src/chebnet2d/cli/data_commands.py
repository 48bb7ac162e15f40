"""data list, fetch, check, splits: what there is, how to get it, whether it is right, how it is cut."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from chebnet2d.data.download import DownloadProgress

data_app = typer.Typer(help="Datasets: list, fetch, check, splits, generate.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")]
DataRoot = Annotated[Path | None, typer.Option(help="Folder with datasets; default: $CHEBNET2D_DATA.")]
Name = Annotated[str, typer.Argument(help="Name of a dataset; see: chebnet2d data list.")]


@data_app.command("list")
def list_datasets(json: Json = False, data_root: DataRoot = None) -> None:
    """Show all datasets, with their statistics, and which of them are on this machine.

    Example: chebnet2d data list --data-root ~/graphs
    """
    from dataclasses import asdict

    from chebnet2d import data
    from chebnet2d.cli.console import print_json
    from chebnet2d.data.catalogue import EMBEDDED_TITLES
    from chebnet2d.data.generated import generated_statistics

    here = set(data.available(data_root))
    generated = {name: counts for name in here if (counts := generated_statistics(name, data_root)) is not None}
    if json:
        embedded = [{"name": name, "title": title, "here": True, "embedded": True} for name, title in EMBEDDED_TITLES.items()]
        entries = [
            {
                **asdict(entry),
                "statistics": asdict(generated.get(name, entry.statistics)),
                "here": name in here,
                "generated": name in generated,
                "embedded": False,
            }
            for name, entry in data.CATALOGUE.items()
        ]
        print_json({"root": str(data.data_root(data_root)), "datasets": embedded + entries})
        return
    table = _table("dataset", "nodes", "edges", "features", "classes", "homophily", "metric", "split", "here")
    for name in EMBEDDED_TITLES:
        table.add_row(name, "", "", "", "", "", "accuracy", "uniform", "embedded")
    for name, entry in data.CATALOGUE.items():
        known = generated.get(name, entry.statistics)
        cells = [_number(value) for value in (known.nodes, known.edges, known.features, known.classes, known.homophily)]
        mark = "generated" if name in generated else "yes" if name in here else "no"
        table.add_row(name if entry.paper else f"{name} *", *cells, entry.metric, entry.split, mark)
    left_out = _print(table, droppable=("split", "metric", "homophily"))
    print(f"data root: {data.data_root(data_root)}")
    if left_out:
        print(f"left out, for want of width: {', '.join(left_out)}.")
    print("digits: 1,797 images as a nearest-neighbour graph. csbm: random graphs of any size and homophily.")
    if generated:
        print("generated: a random graph that `data generate` wrote in the place of the dataset, with its own counts.")
    print("* not in the paper. Edges are undirected. Get one with: chebnet2d data fetch NAME")


@data_app.command("fetch")
def fetch(
    name: Name,
    force: Annotated[bool, typer.Option("--force", help="Download again even if the files are there.")] = False,
    json: Json = False,
    data_root: DataRoot = None,
) -> None:
    """Download a dataset, count what arrived, and put it in its place. Run it again after a broken connection: it continues.

    Example: chebnet2d data fetch roman-empire --data-root ~/graphs
    """
    from chebnet2d import data
    from chebnet2d.cli.console import print_json, say

    with _download_bar(quiet=json) as report:
        folder = data.fetch(name, data_root, report, force=force)
    entry = data.find_entry(name, "fetch")
    say(f"{entry.name}: in {folder}, counts as in the catalogue", quiet=json)
    if json:
        print_json({"dataset": entry.name, "folder": str(folder), "ok": True})


@data_app.command("check")
def check(name: Name, json: Json = False, data_root: DataRoot = None) -> None:
    """Count a dataset and compare with the catalogue and the paper. Exit code 1 if the files differ from the catalogue.

    Example: chebnet2d data check cora
    """
    from dataclasses import fields

    from chebnet2d import data
    from chebnet2d.cli.console import print_json
    from chebnet2d.data.generated import GENERATED

    result = data.check(name, data_root)
    if json:
        print_json(result.to_dict())
    else:
        labels = {"edges": "undirected edges", "homophily": "edge homophily", "isolated": "isolated nodes"}
        labels |= {"twins": "same neighbours and label", "duplicates": "... and same features"}
        table = _table(result.entry.name + (GENERATED if result.generated else ""), "files", "catalogue", "paper")
        for field in fields(result.found):
            row = (result.found, result.entry.statistics, result.entry.paper)
            values = [_number(getattr(column, field.name, None)) for column in row]
            table.add_row(labels.get(field.name, field.name), *values)
        table.add_row("digest", result.digest, result.entry.digest or "", "")
        _print(table)
        for line in result.departures:
            print(f"note: {line}")
        for line in result.entry.trouble:
            print(f"known trouble: {line}")
        for line in result.mismatches:
            print(f"DIFFERENT: {line}")
        print("as in the catalogue" if result.ok else "the files are not those of the catalogue")
    if not result.ok:
        raise typer.Exit(1)


@data_app.command("splits")
def splits(
    name: Annotated[str, typer.Argument(help="Name of a dataset, embedded ones included.")],
    kind: Annotated[str | None, typer.Option(help="One kind of split; default: all that the dataset admits.")] = None,
    seed: Annotated[int, typer.Option(help="Seed, or number of a fixed split.")] = 0,
    json: Json = False,
    data_root: DataRoot = None,
) -> None:
    """Show how each kind of split cuts a dataset: sizes, classes in each part, and what follows from it.

    Example: chebnet2d data splits cora --kind balanced --seed 1
    """
    from chebnet2d import data
    from chebnet2d._checks import InputError, integer
    from chebnet2d.cli.console import print_json

    integer("data splits", "--seed", seed, 0)  # else every kind would be listed as not possible, for this reason
    graph = data.load(name, data_root)
    reports: list[dict[str, Any]] = []
    refused: dict[str, str] = {}
    for candidate in [kind] if kind else data.SPLIT_KINDS:
        try:
            reports.append(data.split_report(data.split(graph, candidate, seed=seed), graph))
        except InputError as error:
            if kind:
                raise
            refused[candidate] = str(error)
    if json:
        print_json({"dataset": graph.name, "seed": seed, "splits": reports, "not_possible": refused})
        return
    for report in reports:
        table = _table(f"{report['name']}, seed {report['seed']}", "nodes", "share", *report["classes"])
        for part, size in report["sizes"].items():
            table.add_row(
                part, _number(size), f"{100 * report['shares'][part]:.1f} %", *map(_number, report["class_counts"][part])
            )
        _print(table)
        print(f"digest {report['digest']}")
        for note in report["notes"]:
            print(f"- {note}")
        print()
    for candidate, reason in refused.items():
        print(f"{candidate}: {reason.removeprefix('split: ')}")


def _table(*columns: str) -> Any:
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left", no_wrap=True)
    return table


def _print(table: Any, droppable: tuple[str, ...] = ()) -> list[str]:
    """Where the terminal is narrow, columns are left out in that order and told; numbers are never cut, lines rather wrap.

    Tables keep their width when stdout is a file or a pipe: columns that vanish are worse than long lines.
    """
    from rich.console import Console

    console, wide = Console(), Console(width=1000)
    room = console.width if console.is_terminal else 200
    left_out = []
    for column in droppable:
        if wide.measure(table).maximum <= room:
            break
        table.columns = [kept for kept in table.columns if kept.header != column]
        left_out.append(column)
    Console(width=max(room, wide.measure(table).maximum)).print(table)
    return left_out


def _number(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}"


@contextmanager
def _download_bar(quiet: bool) -> "Iterator[DownloadProgress | None]":
    """A progress bar on stderr, one line a file; nothing when stderr is not a terminal or ``quiet``."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=console) as bar:

        def report(file: str, done: int, total: int | None) -> None:
            if file not in tasks:
                tasks[file] = bar.add_task(file, total=total)
            bar.update(tasks[file], completed=done, total=total)

        yield report

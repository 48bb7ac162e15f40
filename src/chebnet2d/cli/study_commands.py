"""study: many runs by a protocol, with a store that survives interruptions."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

study_app = typer.Typer(help="Many runs by a frozen protocol: run, status, table, export.", no_args_is_help=True)
StorePath = Annotated[Path, typer.Option("--store", help="File of the study (SQLite).")]
DEFAULT_STORE = Path("runs/study.sqlite")


@study_app.command("run")
def run(
    protocol: Annotated[Path | None, typer.Argument(help="TOML file with a protocol; or use --table or --methods.")] = None,
    table: Annotated[int | None, typer.Option(help="One of the paper's tables: 1 to 3, or 4 (times).")] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, separated by commas (name or name:variant).")] = None,
    datasets: Annotated[str | None, typer.Option(help="Datasets, separated by commas.")] = None,
    split: Annotated[str | None, typer.Option(help="Split protocol, or several, separated by commas [uniform].")] = None,
    splits: Annotated[int | None, typer.Option(help="Number of splits [10].")] = None,
    inits: Annotated[int | None, typer.Option(help="Initialisations on each split [10].")] = None,
    epochs: Annotated[int | None, typer.Option(help="At most this many epochs [2000; --table 4: 20].")] = None,
    patience: Annotated[int | None, typer.Option(help="Stop after this many epochs without improvement [200].")] = None,
    store: StorePath = DEFAULT_STORE,
    reuse: Annotated[list[Path] | None, typer.Option(help="Copy what another study has done already; may be repeated.")] = None,
    workers: Annotated[int, typer.Option(help="Processes on this machine.")] = 1,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster with the same datasets, or 'auto'.")] = None,
    log: Annotated[Path | None, typer.Option(help="Append a line for every finished stack to this file.")] = None,
    data_root: Annotated[Path | None, typer.Option(help="Folder with datasets; default: $CHEBNET2D_DATA.")] = None,
) -> None:
    """Run what the protocol asks for and the store does not have yet. Interrupt it at will; start it again and it goes on.

    Example: chebnet2d study run --table 1 --methods chebnet2d,gprgnn --datasets cora,texas --inits 1
    """
    from chebnet2d._checks import InputError, integer
    from chebnet2d._targets import check_target
    from chebnet2d.cli.console import cluster_news, log_lines, study_progress
    from chebnet2d.cluster import ProcessExecutor, RayExecutor, connected
    from chebnet2d.study import Protocol, run_study

    integer("study run", "--workers", workers, 1)
    if log is not None and not log.is_fifo() and not log.is_char_device():
        check_target("study run", "--log", log, keep=(store, protocol))
    if ray is not None and workers > 1:
        raise InputError("study run", "--workers", "1 beside --ray, which has the processes of a cluster", got=str(workers))
    names = {"methods": methods, "datasets": datasets}
    options: dict[str, Any] = {"split": split, "splits": splits, "inits": inits, "patience": patience, "epochs": epochs}
    options = {name: value for name, value in options.items() if value is not None}
    if protocol is not None:
        _refuse("a protocol file", {"table": table, **names, **options}, "Put it into the file.")
        chosen = Protocol.from_toml(protocol)
    elif table == 4:
        if ray is not None:
            raise InputError("study run", "--table", "1 to 3 beside --ray", got="4, whose times are those of one machine")
        _refuse("--table 4", {name: value for name, value in options.items() if name != "epochs"})
        _time_large_graphs(
            _listed(methods), _listed(datasets), store.parent / "table4", data_root, 20 if epochs is None else epochs
        )
        return
    else:
        if split is not None:
            options["split"] = tuple(_listed(split))
        listed: dict[str, Any] = {name: tuple(_listed(value)) for name, value in names.items()}
        if table is not None:
            chosen = Protocol.from_table(table, **listed, **options)
        elif all(listed.values()):
            chosen = Protocol(**listed, **options)
        else:
            raise InputError(
                "study run", "what to run", "given by a file, by --table, or by --methods and --datasets", got="none"
            )
    with study_progress() as report, log_lines(log) as write:
        executor = RayExecutor(ray) if ray is not None else ProcessExecutor(workers) if workers > 1 else None
        options = {"root": data_root, "reuse": reuse or (), "progress": report, "log": write}
        with nullcontext() if ray is None else cluster_news(), nullcontext() if ray is None else connected(ray):
            run_study(chosen, store, executor=executor, **options)
    _print_status(store)


@study_app.command("status")
def status(
    store: StorePath = DEFAULT_STORE, json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False
) -> None:
    """Runs done and planned, by method and dataset.

    Example: chebnet2d study status --store runs/study.sqlite
    """
    from chebnet2d.cli.console import print_json
    from chebnet2d.study import Store

    if json:
        with Store(store, create=False) as opened:
            cells = opened.progress()
        print_json({"cells": cells, "runs": sum(c["runs"] for c in cells), "done": sum(c["done"] for c in cells)})
    else:
        _print_status(store)


@study_app.command("table")
def table(
    store: StorePath = DEFAULT_STORE,
    style: Annotated[str, typer.Option("--format", help="markdown, latex, csv or json.")] = "markdown",
    paper: Annotated[int | None, typer.Option(help="Show the numbers of the paper's table 1, 2 or 3 beside ours.")] = None,
    notes: Annotated[
        Path | None, typer.Option(help="Make a page: with the origins of settings, and reasons from this TOML file.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write to this file instead of stdout.")] = None,
) -> None:
    """The table of a study: means, intervals, best and second, and what is not significantly worse than the best. A study with
    several ways of splitting has a table for each.

    Example: chebnet2d study table --format latex --paper 1
    """
    from chebnet2d._checks import InputError, one_of
    from chebnet2d._targets import check_target, written_whole
    from chebnet2d.cli.console import say
    from chebnet2d.reports import format_table, make_tables, published_numbers
    from chebnet2d.reports.pages import make_page, read_notes
    from chebnet2d.study import Store

    published = None
    if paper is not None:
        published = published_numbers()[one_of("study table", "--paper", str(paper), ("1", "2", "3"))]
    if notes is not None and (paper is None or style != "markdown"):
        raise InputError("study table", "--notes", "beside --paper and in markdown", got="it without", verb="stand")
    if out is not None:
        check_target("study table", "--out", out, keep=(store, notes))
    reasons = None if notes is None else read_notes(notes)
    with Store(store, create=False) as opened:
        rows = list(opened.rows())
    if not rows:
        raise InputError("study table", f"{str(store)!r}", "finished runs", got="none yet", verb="have")
    made = make_tables(rows, published)
    if paper is not None and all(cell.published is None for one in made for cell in one.cells.values()):
        typer.echo(f"table {paper} of the paper has none of these methods and datasets", err=True)
    text = format_table(made, style) if reasons is None else make_page(made, rows, reasons)
    if out is None:
        typer.echo(text, nl=False)
    else:
        with written_whole(out) as temporary:
            temporary.write_text(text, encoding="utf-8")
        say(f"table written to {out}")


@study_app.command("export")
def export(
    out: Annotated[Path, typer.Option(help="File to write: .csv, .parquet or .json.")], store: StorePath = DEFAULT_STORE
) -> None:
    """Every run with its raw metrics, configuration, digests, seeds, versions, machine, time and memory.

    Example: chebnet2d study export --out runs.parquet
    """
    from chebnet2d.cli.console import say
    from chebnet2d.study.export import export_rows

    say(f"{export_rows(store, out)} runs written to {out}")


def _refuse(beside: str, given: dict[str, Any], hint: str = "") -> None:
    """A flag that would be ignored."""
    from chebnet2d._checks import InputError

    for name, value in given.items():
        if value is not None:
            raise InputError("study run", f"--{name}", f"left out beside {beside}", value, hint)


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] if text else []


def _time_large_graphs(methods: list[str], datasets: list[str], folder: Path, root: Path | None, epochs: int) -> None:
    """Table 4: printed line by line as it is measured, then as a whole."""
    from chebnet2d.cli.console import say
    from chebnet2d.reports.timings import DATASETS, METHODS, format_timings, table4

    def done(line: Any) -> None:
        say(f"{line.method} on {line.dataset}: {line.epoch_seconds:.3g} s an epoch, peak {line.peak_mib:.0f} MiB")

    lines = table4(folder, root=root, methods=methods or METHODS, datasets=datasets or DATASETS, epochs=epochs, done=done)
    text = format_timings(lines)
    (folder / "table4.md").write_text(text, encoding="utf-8")
    typer.echo(text, nl=False)


def _print_status(store: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from chebnet2d.study import Store

    with Store(store, create=False) as opened:
        cells = opened.progress()
    shown = Table(title=f"{store}: {sum(c['done'] for c in cells)} of {sum(c['runs'] for c in cells)} runs done")
    for column in ("method", "dataset", "done", "planned", "stacks in work"):
        shown.add_column(column)
    for cell in cells:
        shown.add_row(cell["method"], cell["dataset"], str(cell["done"]), str(cell["runs"]), str(cell["working"] or ""))
    Console().print(shown)

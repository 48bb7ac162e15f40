"""study export: every run, for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("study export", order=240)
def export(
    out: Annotated[Path, typer.Option(help="File to write: .csv, .parquet or .json.")],
    store: options.StoreFile = options.DEFAULT_STORE,
    datasets: Annotated[str | None, typer.Option(help="Datasets, separated by commas.")] = None,
    force: options.Force = False,
) -> None:
    """Every run with its raw metrics, configuration, digests, seeds, versions, machine, time and memory.

    Example: chebnet2d study export --out runs.parquet
    """
    from chebnet2d.cli.console import say
    from chebnet2d.study.export import export_rows

    names = None if datasets is None else [name.strip() for name in datasets.split(",")]
    say(f"{export_rows(store, out, datasets=names, force=force)} runs written to {out}")

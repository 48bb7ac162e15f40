"""report: a model, a predictor or a study as one page for the browser."""

from pathlib import Path
from typing import Annotated

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also


@command("report", order=27)
def report(
    subject: Annotated[
        Path,
        typer.Argument(metavar="MODEL|STORE", help="Folder of a model or predictor; or a study: store, Parquet or JSON."),
        Also("load.path", "Store.path", "study.reuse"),
    ],
    graph: options.GraphOptions,
    dataset: options.Dataset = "",
    out: Annotated[
        Path | None, typer.Option(help="Page to write; default: report.html in the model's folder, or beside the study.")
    ] = None,
    mistakes: Annotated[int, typer.Option(help="Of a model: how many of the most confident mistakes are explained.")] = 3,
    reference: options.Reference = None,
    method: options.OutsideMethod = None,
    force: options.Force = False,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Write one HTML file that needs no network. Of a model or predictor: leaderboard, classes, calibration, filters, the most
    confident mistakes explained, settings. Of a study: tables that sort and filter, the paper's numbers, significance (of
    chebnet2d, else of the first 2-D convolution, else of the first method, unless --reference names another).

    Example: chebnet2d report my-model digits --out report.html
    Example: chebnet2d report runs/study.sqlite --out study.html
    """
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.html_reports import report as write_report

    reading = options.typed(graph)
    target = out or (subject if subject.is_dir() else subject.parent) / "report.html"
    made = write_report(
        subject,
        dataset or None,
        out=target,
        mistakes=mistakes,
        reference=reference,
        force=force,
        method=method,
        root=data_root,
        reading=reading,
    )
    size = made.stat().st_size
    say(f"report written to {made} ({size / 1e6:.1f} MB): open it in a browser", quiet=json)
    if json:
        print_json({"out": str(made), "bytes": size})

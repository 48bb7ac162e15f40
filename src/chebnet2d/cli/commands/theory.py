"""theory: the claims of the paper, tried."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also

if TYPE_CHECKING:
    from chebnet2d.theory import TheoryReport

_WIDTH = 170  # of the table where stdout is no terminal


@command("theory", order=40)
def theory(
    json: options.Json = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw a picture per statement into this folder, or the degree limit into a file (png, pdf, svg)."),
        Also("path", "the plot's file"),
    ] = None,
    force: options.Force = False,
    seed: Annotated[int, typer.Option(help="Seed of the random graphs, signals and targets.")] = 0,
    data_root: options.DataRoot = None,
) -> None:
    """Try the paper's claims about what each convolution can construct. Exit code 1 if a line does not hold its bound.

    Example: chebnet2d theory --plot pictures
    """
    from chebnet2d._checks import InputError
    from chebnet2d._figures import check_picture, check_picture_file
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.cli.progress import progress_bar, theory_step
    from chebnet2d.theory import degree_figure, picture_files, report, save_figure, save_pictures

    folder = plot is not None and not plot.suffix
    if plot is not None and folder and plot.is_file():
        raise InputError("theory", "path", "a folder, or a file that ends in .png, .pdf or .svg", str(plot))
    if plot is not None:  # before the work, not after it
        for picture in picture_files(plot) if folder else [check_picture(plot, "theory")]:
            check_picture_file("theory", "path", picture, force=force)
    large, skipped = _real_graphs(data_root)
    with progress_bar(theory_step(), quiet=json) as done:
        result = report(seed=seed, large=large, skipped=skipped, done=done or (lambda _: None))
    if plot is not None and folder:
        save_pictures(plot, result.curves, seed=seed)
    elif plot is not None:
        save_figure(degree_figure(result.curves), plot)
    if json:
        print_json(result.as_dict())
    else:
        _print_sections(result)
    say(f"{'pictures below' if folder else 'plot:'} {plot}", quiet=json or plot is None)
    if not result.passed:
        raise typer.Exit(1)


def _real_graphs(root: Path | None) -> tuple[dict[str, Any], dict[str, str]]:
    """Cora if it is on this machine; else the reason why not, for the report."""
    from chebnet2d import data
    from chebnet2d._checks import InputError

    try:
        return {"Cora": data.load("cora", root).edge_index}, {}
    except InputError as error:
        return {}, {"Cora": str(error)}


def _print_sections(result: "TheoryReport") -> None:
    from itertools import groupby

    from rich.text import Text

    from chebnet2d.cli.tables import console, make_table

    shown = console(_WIDTH)
    longest = max(len(claim.key) for claim in result)  # a name in two halves cannot be searched for
    columns = ("line: what holds", "the paper", "verdict", "measured", "")
    for section, claims in groupby(result, key=lambda claim: claim.section):
        table = make_table(*columns, left=columns, title=section, fold=True)
        table.expand = True
        for column, ratio in zip(table.columns, (5, 3, None, 3, None), strict=True):
            column.ratio = ratio
        table.columns[0].width = longest  # the least: shares of what is left add to it
        for claim in claims:
            what = Text.assemble((claim.key, "bold"), "\n", claim.claim)
            measured = f"{claim.comparison()}: {claim.quantity}"
            table.add_row(what, claim.paper, claim.verdict, measured, "ok" if claim.passed else "FAILED")
        shown.print(table)
    verdicts = [claim.verdict for claim in result]
    print(
        f"{len(result)} lines in {result.seconds:.1f} s, {sum(claim.passed for claim in result)} within their bounds. "
        f"On the paper's statements: {verdicts.count('holds')} lines hold, {verdicts.count('corrected')} correct, "
        f"{verdicts.count('fails')} refute; {verdicts.count('added')} lines add to it."
    )
    for name, reason in result.skipped.items():
        print(f"left out: {name}. {reason}")

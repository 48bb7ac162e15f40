"""study table: the results of a study, with the paper's beside them."""

from pathlib import Path
from typing import Annotated

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("study table", order=230)
def table(
    store: options.StudyRuns = options.DEFAULT_STORE,
    style: Annotated[str, typer.Option("--format", help="markdown, latex, csv or json.")] = "markdown",
    paper: Annotated[int | None, typer.Option(help="Show the numbers of the paper's table 1, 2 or 3 beside ours.")] = None,
    reference: options.Reference = None,
    notes: Annotated[
        Path | None, typer.Option(help="Make a page: protocol, budgets, statistics, and text and reasons from this TOML file.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write to this file instead of stdout.")] = None,
    force: options.Force = False,
) -> None:
    """The table of a study: means, intervals, best and second, and what is not significantly worse than the best. A study with
    several ways of splitting has a table for each.

    Example: chebnet2d study table --store results/baselines.parquet --format latex --paper 1
    """
    from chebnet2d._checks import InputError, one_of
    from chebnet2d._targets import check_target, written_whole
    from chebnet2d.cli.console import say
    from chebnet2d.reports import compare_all, format_table, make_page, make_tables, published_numbers, read_notes
    from chebnet2d.reports.formats import MARKS
    from chebnet2d.reports.sections.protocol import describe_budgets
    from chebnet2d.study import read_rows, read_trials

    published = None
    if paper is not None:
        published = published_numbers()[one_of("study table", "paper", str(paper), ("1", "2", "3"))]
    if notes is not None and style != "markdown":
        raise InputError("study table", "notes", "with --format markdown", got=f"it with {style!r}", verb="come")
    if reference is not None and style not in ("markdown", "json"):
        raise InputError("study table", "reference", "with --format markdown or json", got=f"it with {style!r}", verb="come")
    if out is not None:
        check_target("study table", "out", out, keep=(store, notes), marks=MARKS, force=force)
    reasons = None if notes is None else read_notes(notes)
    rows, trials = read_rows(store), read_trials(store)
    if not rows:
        raise InputError("study table", f"{str(store)!r}", "finished runs", got="none yet", verb="have")
    made = make_tables(rows, published)
    if paper is not None and all(cell.published is None for one in made for cell in one.cells.values()):
        typer.echo(f"table {paper} of the paper has none of these methods and datasets", err=True)
    if reasons is not None:
        text = make_page(made, [*rows, *trials], reasons, reference)
    else:
        text = format_table(made, style, None if reference is None else compare_all(rows, reference))
        if trials and style == "markdown":
            text += f"\n{describe_budgets([*rows, *trials])}"
    if out is None:
        typer.echo(text, nl=False)
    else:
        with written_whole(out) as temporary:
            temporary.write_text(text, encoding="utf-8")
        say(f"table written to {out}")

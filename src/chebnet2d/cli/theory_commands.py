"""theory: the claims of the paper, tried."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from torch import Tensor

    from chebnet2d.theory import Claim, TheoryReport

_WIDTH = 170  # of the table where stdout is no terminal


def theory(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the degree limit into this file (png, pdf, svg).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random graphs, signals and targets.")] = 0,
    data_root: Annotated[Path | None, typer.Option(help="Folder with datasets, for Cora; default: $CHEBNET2D_DATA.")] = None,
) -> None:
    """Try the paper's claims about what each convolution can construct. Exit code 1 if a line does not hold its bound.

    Example: chebnet2d theory --plot degrees.png
    """
    from chebnet2d._figures import check_picture
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.theory import degree_figure, report, save_figure

    if plot is not None:
        check_picture(plot, "theory")  # before the work, not after it
    large, skipped = _real_graphs(data_root)
    with _progress(quiet=json) as done:
        result = report(seed=seed, large=large, skipped=skipped, done=done)
    if plot is not None:
        save_figure(degree_figure(result.curves), plot)
    if json:
        print_json(result.as_dict())
    else:
        _print_table(result)
    say(f"plot: {plot}", quiet=json or plot is None)
    if not result.passed:
        raise typer.Exit(1)


def _real_graphs(root: Path | None) -> "tuple[dict[str, Tensor], dict[str, str]]":
    """Cora if it is on this machine; else the reason why not, for the report."""
    from chebnet2d import data
    from chebnet2d._checks import InputError

    try:
        return {"Cora": data.load("cora", root).edge_index}, {}
    except InputError as error:
        return {}, {"Cora": str(error)}


def _print_table(result: "TheoryReport") -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    plain: dict[str, Any] = {"markup": False, "highlight": False}  # square brackets are indices here
    console = Console(**plain)
    if not console.is_terminal:
        console = Console(width=_WIDTH, **plain)
    longest = max(len(claim.key) for claim in result)  # a name in two halves cannot be searched for
    section = ""
    table: Any = None
    for claim in result:
        if claim.section != section:
            if table is not None:
                console.print(table)
            section = claim.section
            table = Table(title=section, title_justify="left", title_style="bold", box=SIMPLE, pad_edge=False, expand=True)
            table.add_column("line: what holds", ratio=5, min_width=longest)
            table.add_column("the paper", ratio=3)
            table.add_column("verdict")
            table.add_column("measured", ratio=3)
            table.add_column("", no_wrap=True)
        measured = f"{relation(claim)}: {claim.quantity}"
        table.add_row(
            Text.assemble((claim.key, "bold"), "\n", claim.claim),
            claim.paper,
            claim.verdict,
            measured,
            "ok" if claim.passed else "FAILED",
        )
    console.print(table)
    verdicts = [claim.verdict for claim in result]
    print(
        f"{len(result)} lines in {result.seconds:.1f} s, {sum(claim.passed for claim in result)} within their bounds. "
        f"On the paper's statements: {verdicts.count('holds')} lines hold, {verdicts.count('corrected')} correct, "
        f"{verdicts.count('fails')} refute; {verdicts.count('added')} lines add to it."
    )
    for name, reason in result.skipped.items():
        print(f"left out: {name}. {reason}")


def relation(claim: "Claim") -> str:
    """What was measured beside its bound, with as many digits as it takes to see whether the line holds."""
    from dataclasses import replace

    for digits in range(4, 18):
        measured, bound = number(claim.measured, digits), number(claim.bound, digits)
        if replace(claim, measured=float(measured), bound=float(bound)).passed == claim.passed:
            break
    return f"{measured} {claim.relation} {bound}"


def number(value: float, digits: int = 4) -> str:
    """Whole numbers as they are, others with so many digits."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e6 else f"{value:.{digits}g}"


@contextmanager
def _progress(quiet: bool) -> "Iterator[Callable[[Claim], None]]":
    """The current section and a count of lines on stderr; nothing when stderr is not a terminal or ``quiet``."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    count = 0
    with console.status("theory") as status:

        def done(claim: "Claim") -> None:
            nonlocal count
            count += 1
            status.update(f"theory: {count} lines, {claim.section}")

        yield done

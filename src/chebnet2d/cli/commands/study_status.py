"""study status: what is done, and who works on the rest."""

from typing import Annotated

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("study status", order=220)
def status(
    store: options.StoreFile = options.DEFAULT_STORE,
    release: Annotated[
        bool, typer.Option("--release", help="Drop all claims first: units whose processes are gone, or slow, are free at once.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Runs done and planned, by method and dataset, what a search has cost, and which process holds which unit until when.

    Example: chebnet2d study status --store runs/study.sqlite
    """
    from chebnet2d.cli.console import say
    from chebnet2d.cli.tables import print_status, print_status_json
    from chebnet2d.study import Store
    from chebnet2d.study.waiting import describe_claims

    if release:
        with Store(store, create=False):  # what is no store is refused, not made
            pass
        with Store(store) as opened:
            dropped = opened.release_all()
        say(f"released: {describe_claims(dropped) or 'nothing, no unit was claimed'}", quiet=json)
    if json:
        print_status_json(store)
    else:
        print_status(store)

"""study status: what is done."""

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("study status", order=220)
def status(store: options.StoreFile = options.DEFAULT_STORE, json: options.Json = False) -> None:
    """Runs done and planned, by method and dataset.

    Example: chebnet2d study status --store runs/study.sqlite
    """
    from chebnet2d.cli.console import print_json
    from chebnet2d.cli.tables import print_status
    from chebnet2d.study import Store

    if not json:
        return print_status(store)
    with Store(store, create=False) as opened:
        cells = opened.progress()
    return print_json({"cells": cells, "runs": sum(c["runs"] for c in cells), "done": sum(c["done"] for c in cells)})

"""plot: what the filters of a model look like."""

from pathlib import Path
from typing import Annotated

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also


@command("plot", order=30)
def plot(
    model: options.ModelFolder,
    out: Annotated[
        Path | None,
        typer.Option(help="Picture to write; default: filters.png in the model's folder."),
        Also("plot_filters.path"),
    ] = None,
    json: options.Json = False,
) -> None:
    """Draw the learned filter of every pair of channels, of a model of ChebNet2D.

    Example: chebnet2d plot my-model --out filters.png
    """
    from chebnet2d._targets import check_target
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.models import load, read_facts
    from chebnet2d.plots import plot_filters

    picture = out or model / "filters.png"
    check_target("plot", "out", picture)
    target = plot_filters(load(model), picture, read_facts(model).get("class_names"))
    say(f"filters drawn in {target}", quiet=json)
    if json:
        print_json({"out": str(target)})

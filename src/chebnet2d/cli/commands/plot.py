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
    kind: Annotated[str, typer.Option(help="What to draw."), Also("find_plot.name")] = "filters",
    out: Annotated[
        Path | None, typer.Option(help="Picture to write; default: KIND.png in the model's folder."), Also("plot.path")
    ] = None,
    method: options.OutsideMethod = None,
    json: options.Json = False,
) -> None:
    """Draw a model; by default the learned filter of every pair of channels, of a model of ChebNet2D.

    Example: chebnet2d plot my-model --out filters.png
    """
    from chebnet2d._figures import check_picture
    from chebnet2d._targets import check_target
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.models import load, read_facts
    from chebnet2d.plots import find_plot, save_figure

    draw, picture = find_plot(kind), check_picture(out or model / f"{kind}.png", "plot")
    check_target("plot", "out", picture)
    target = save_figure(draw(load(model, method=method), class_names=read_facts(model).get("class_names")), picture)
    say(f"{kind} drawn in {target}", quiet=json)
    if json:
        print_json({"out": str(target)})

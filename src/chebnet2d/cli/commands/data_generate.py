"""data generate: a random graph in the place of a large one."""

from typing import Annotated

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("data generate", order=150)
def generate(
    like: Annotated[
        str, typer.Option(help="ogbn-arxiv, ogbn-products, penn94, genius, twitch-gamers, roman-empire or amazon-ratings.")
    ],
    scale: Annotated[float, typer.Option(help="Part of the nodes and edges, for trials.")] = 1.0,
    model: Annotated[str, typer.Option(help="power-law or csbm.")] = "power-law",
    seed: Annotated[int, typer.Option(help="Seed of the graph.")] = 0,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Write a random graph with the size of a large dataset, in its raw format: the real one is not downloaded.

    Example: chebnet2d data generate --like ogbn-products --data-root generated
    """
    from dataclasses import asdict

    from chebnet2d.cli.console import print_json, say
    from chebnet2d.data.generated import generate, shape_of

    shape = shape_of(like, scale)
    folder = generate(like, data_root, scale=scale, model=model, seed=seed, progress=lambda text: say(text, quiet=json))
    counts = f"{shape.nodes} nodes, {shape.edges} edges, {shape.features} features and {shape.classes} classes"
    say(f"a random graph like {shape.like} with {counts} in {folder}", quiet=json)
    if json:
        print_json({**asdict(shape), "folder": str(folder), "scale": scale, "model": model, "seed": seed})

"""The command tree. A command lives in the file of its name; this file only ties them together."""

from typing import Annotated

import typer

from chebnet2d import __version__
from chebnet2d.cli import (
    data_commands,
    large_commands,
    model_commands,
    models_commands,
    search_commands,
    study_commands,
    theory_commands,
)

app = typer.Typer(
    name="chebnet2d",
    help="Spectral graph neural networks: train, look inside, compare.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    epilog="Example: chebnet2d train digits --save my-model && chebnet2d plot my-model",
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"chebnet2d {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    pass


app.command("train")(model_commands.train)
app.command("predict")(model_commands.predict)
app.command("plot")(model_commands.plot)
app.add_typer(data_commands.data_app, name="data")
app.command("theory")(theory_commands.theory)
app.add_typer(study_commands.study_app, name="study")
app.command("models")(models_commands.models)
app.command("search")(search_commands.search)
app.command("precompute")(large_commands.precompute)
app.command("train-bases")(large_commands.train_bases)
data_commands.data_app.command("generate")(large_commands.generate)

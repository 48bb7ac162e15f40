"""The command tree: every module in ``commands/`` is imported, and what it registered is put in its place."""

from typing import Annotated

import typer

from chebnet2d import __version__
from chebnet2d._registry import import_modules
from chebnet2d.cli.command import COMMANDS

_GROUPS = {"data": "Datasets", "study": "Many runs by a frozen protocol"}


def _print_version(asked: bool) -> None:
    if asked:
        print(f"chebnet2d {__version__}")
        raise typer.Exit


def _options(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    pass


def make_app() -> typer.Typer:
    import_modules("chebnet2d.cli.commands")
    app = typer.Typer(
        name="chebnet2d",
        help="Spectral graph neural networks: train, look inside, compare.",
        epilog="Example: chebnet2d train digits --save my-model && chebnet2d plot my-model",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    groups: dict[str, list[str]] = {}
    tree = {"": app}
    for command in sorted(COMMANDS.values(), key=lambda one: one.order):
        group, _, name = command.name.rpartition(" ")
        if group not in tree:
            tree[group] = typer.Typer(no_args_is_help=True)
        groups.setdefault(group, []).append(name)
        tree[group].command(name)(command.function)
    for group in filter(None, groups):
        app.add_typer(tree[group], name=group, help=f"{_GROUPS.get(group, group)}: {', '.join(groups[group])}.")
    return app


app = make_app()

"""``@command("study run")`` above a function makes it a command of that name.

A parameter that is annotated with a dataclass of options stands for all fields of it: the command line gets a flag for each,
and the function one object.
"""

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

import typer

from chebnet2d._checks import InputError
from chebnet2d._registry import Registry
from chebnet2d.cli.disk import disk_sentence
from chebnet2d.cli.flags import Flag, sentence_of
from chebnet2d.cli.signals import stopping_code, stopping_word

WRONG_INPUT = 2
DISK = os.EX_IOERR
F = TypeVar("F", bound=Callable[..., None])


@dataclass(frozen=True)
class Command:
    name: str
    order: int
    function: Callable[..., None]


COMMANDS: Registry[Command] = Registry("command")


def command(name: str, *, order: int = 1000, resumes: str = "") -> Callable[[F], F]:
    """Register a command. ``order``: its place in ``--help``; ``resumes``: what becomes of the work after an interrupt."""

    def register(function: F) -> F:
        COMMANDS.add(name, Command(name, order, _for_typer(name, function, resumes)))
        return function

    return register


def _for_typer(name: str, function: Callable[..., None], resumes: str) -> Callable[..., None]:
    """The function with flat parameters, and a line on stderr and an exit code where it raised."""
    parts: dict[str, type[Any]] = {}
    flat: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        if is_dataclass(parameter.annotation) and isinstance(parameter.annotation, type):
            parts[parameter.name] = parameter.annotation
            flat += _parameters(parameter.annotation)
        else:
            flat.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    flags = [Flag.of(parameter) for parameter in flat]

    @functools.wraps(function)
    def run(**values: Any) -> None:
        own = dict(values)
        for part, kind in parts.items():
            own[part] = kind(**{field.name: own.pop(field.name) for field in fields(kind)})
        try:
            function(**own)
        except InputError as error:
            typer.echo(f"chebnet2d: {sentence_of(error, name, flags, values)}", err=True)
            raise typer.Exit(WRONG_INPUT) from error
        except KeyboardInterrupt as stopped:
            typer.echo(f"chebnet2d: {stopping_word()}. {resumes}".rstrip(), err=True)
            raise typer.Exit(stopping_code()) from stopped
        except Exception as error:
            if (text := disk_sentence(error)) is None:
                raise
            typer.echo(f"chebnet2d: {name}: {text}", err=True)
            raise typer.Exit(DISK) from error

    run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _parameters(kind: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    defaults = inspect.signature(kind).parameters
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default, annotation=hints[name])
        for name, parameter in defaults.items()
    ]

"""Which flag of a command an argument of the library is: known from the command's own parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any, get_args, get_origin

from typer.models import ArgumentInfo, OptionInfo

from chebnet2d._checks import InputError


class Also:
    """In an ``Annotated``: other names that the library has for the parameter, ``argument`` or ``owner.argument``."""

    def __init__(self, *arguments: str) -> None:
        self.arguments = arguments


@dataclass(frozen=True)
class Flag:
    """One parameter of a command: what users type, and what the library calls it."""

    parameter: str
    text: str
    arguments: tuple[str, ...]
    default: Any

    @classmethod
    def of(cls, parameter: Parameter) -> "Flag":
        """``hidden_channels: Annotated[int, typer.Option("--hidden")]`` is ``--hidden``; an argument is in capitals."""
        name = parameter.name
        notes = get_args(parameter.annotation)[1:] if get_origin(parameter.annotation) is Annotated else ()
        text = "--" + name.replace("_", "-")
        for note in notes:
            if isinstance(note, ArgumentInfo):
                text = note.metavar or name.upper()
            elif isinstance(note, OptionInfo):  # the first word has the place of a default, which is elsewhere in an Annotated
                words = [word for word in (note.default, *(note.param_decls or ())) if isinstance(word, str)]
                text = words[0].split("/")[0] if words else text
        others = (argument for note in notes if isinstance(note, Also) for argument in note.arguments)
        return cls(name, text, (name, *others), parameter.default)


def sentence_of(error: InputError, command: str, flags: Sequence[Flag], values: Mapping[str, Any]) -> str:
    """The error in the words of a command, if it is about something that was typed; else the library's own sentence.

    ``values``: what the command was called with. Of several flags for one argument (two rates of dropout are both ``p`` to
    the layer), the one is meant that has the value of the error.
    """
    table = {argument: flag.text for flag in reversed(flags) for argument in flag.arguments}
    meant = [flag for flag in flags if f"{error.owner}.{error.argument}" in flag.arguments]
    given = (flag for flag in flags if values[flag.parameter] not in (flag.default, []))
    meant = meant or [flag for flag in given if error.argument in flag.arguments]
    if not meant:
        return error.sentence(flags={name: text for name, text in table.items() if name != error.argument})
    chosen = next((flag for flag in meant if str(values[flag.parameter]) == str(error.value)), meant[0])
    return error.sentence(owner=command, flags={**table, error.argument: chosen.text})

"""The flags that describe a graph of the user's own, for every command that reads one."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

_PANEL = "Your own graph (see docs/own-graph.md)"


def _flag(kind: Any, help: str, *names: str, default: Any = None) -> tuple[Any, Any]:
    return Annotated[kind, typer.Option(*names, help=help, rich_help_panel=_PANEL)], default


# Parameter of the command -> (argument of ``read_graph``, (type, default)).
_FLAGS: dict[str, tuple[str, tuple[Any, Any]]] = {
    "edges": ("edges", _flag(Path | None, "Edge list: CSV, TSV or Parquet.")),
    "features": ("features", _flag(str | None, "Features: CSV, TSV, Parquet, npy, npz; or 'degree' or 'identity'.")),
    "labels": ("labels", _flag(Path | None, "Labels: CSV, TSV or Parquet.")),
    "source_column": ("source", _flag(str | None, "Column of the edges' first end.")),
    "target_column": ("target", _flag(str | None, "Column of the edges' second end.")),
    "weight_column": ("weight", _flag(str | None, "Column of the edges' weights.")),
    "id_column": ("node_id", _flag(str | None, "Column of the node ids.")),
    "label_column": ("label", _flag(str | None, "Column of the labels.")),
    "missing_features": ("missing_features", _flag(str, "Missing values: error, zero or mean.", default="error")),
    "categorical": ("categorical", _flag(str, "Columns of words: error or one-hot.", default="error")),
    "ignore_column": ("ignore", _flag(list[str] | None, "Column of the features to leave out.")),
    "unlabelled": ("unlabelled", _flag(str | None, "A label that means none.")),
    "header": (
        "header",
        _flag(bool | None, "Whether files begin with names, where in doubt.", "--header/--no-header"),
    ),
}


def takes_own_graph(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these flags in the place of its argument ``own``: what was typed, as arguments of ``read_graph``."""
    signature = inspect.signature(command)
    flags = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (_, (kind, default)) in _FLAGS.items()
    ]

    @functools.wraps(command)
    def with_flags(**arguments: Any) -> None:
        typed = {name: arguments.pop(name) for name in _FLAGS}
        own = {_FLAGS[name][0]: value for name, value in typed.items() if value != _FLAGS[name][1][1] and value != []}
        command(**arguments, own=own)

    rest = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        if parameter.name != "own"
    ]
    with_flags.__signature__ = signature.replace(parameters=rest + flags)  # type: ignore[attr-defined]
    return with_flags


def flag_of(argument: str) -> str:
    """The flag for an argument of ``read_graph``."""
    return "--" + next(name for name, (other, _) in _FLAGS.items() if other == argument).replace("_", "-")

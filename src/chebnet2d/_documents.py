"""Small documents, JSON and TOML: read as data, whatever the file holds, and checked against the fields that they must have."""

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError

LARGEST = 64 * 2**20  # bytes: a document is no place for tables of numbers
Check = Callable[[str, str, Any], object]
"""Called with (owner, name of the field, value); raises an ``InputError``."""


def read_document(owner: str, path: Path, kind: str = "JSON", *, argument: str | None = None, what: str | None = None) -> Any:
    """What a JSON or TOML file holds. A file that is damaged, endless or nested too deeply is an error.

    ``argument`` takes the blame for a file that cannot be opened; ``what``: the kind of file that is expected.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(owner, f"{str(path)!r}", f"{kind} of at most {LARGEST >> 20} MiB", got="more")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        got = f"{str(path)!r}: {error.strerror}"
        raise InputError(owner, argument or "the file", what or f"a {kind} file", got=got) from None
    except UnicodeDecodeError as error:
        raise InputError(owner, f"{str(path)!r}", kind, reason=str(error)) from None
    return parse_document(owner, f"{str(path)!r}", text, kind)


def parse_document(owner: str, argument: str, text: str, kind: str = "JSON") -> Any:
    """The same from text, for which ``argument`` takes the blame."""
    try:
        return json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except RecursionError:
        raise InputError(owner, argument, f"{kind} that is not nested so deeply") from None
    except ValueError as error:  # of both parsers, and of a number with too many digits
        raise InputError(owner, argument, kind, reason=str(error)) from None


def check_fields(owner: str, place: str, value: Any, schema: Mapping[str, type | tuple[type, ...] | Check]) -> dict[str, Any]:
    """A mapping that has these fields and no others, each of its type, or as its check says. A truth value is no number."""
    if not isinstance(value, dict):
        raise InputError(owner, place, "a table of names and values", value)
    if value.keys() != schema.keys():
        odd = sorted(value.keys() ^ schema.keys())[0]
        got = f"no {odd!r}" if odd in schema else f"{odd!r} besides"
        raise InputError(owner, place, f"the fields {', '.join(schema)}", got=got, verb="have")
    for name, rule in schema.items():
        found = value[name]
        if not isinstance(rule, type | tuple):
            rule(owner, f"{name} in {place}", found)
            continue
        kinds = rule if isinstance(rule, tuple) else (rule,)
        if not isinstance(found, kinds) or (isinstance(found, bool) and bool not in kinds):
            words = " or ".join("null" if kind is type(None) else kind.__name__ for kind in kinds)
            raise InputError(owner, f"{name} in {place}", f"of the type {words}", found)
    return value

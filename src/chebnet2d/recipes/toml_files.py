"""TOML: one way to read a file, with a sentence for what can go wrong, and values to write."""

import json
import tomllib
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError


def read_toml(owner: str, argument: str, path: str | Path, what: str = "a TOML file") -> dict[str, Any]:
    """``owner`` and ``argument`` take the blame; ``what``: the kind of file that is expected."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(owner, argument, what, got=f"{str(path)!r}, which does not exist") from None
    except OSError as error:
        raise InputError(owner, argument, what, got=f"{str(path)!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(owner, f"{str(path)!r}", "TOML", reason=str(error)) from None


def toml_key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else toml_value(name)


def toml_value(value: Any) -> str:
    """On one line. Numbers, strings and lists of them are written in TOML as in JSON; what is None is left out."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items() if v is not None) + " }"
    return json.dumps(value, ensure_ascii=False)

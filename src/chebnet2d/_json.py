"""JSON as every program reads it: a number that is none (NaN, infinite) is null."""

import json
import math
from collections.abc import Mapping
from typing import Any


def finite(value: Any) -> Any:
    """The value with None in the place of every number that is not finite, however deep.

    >>> finite({"loss": float("nan"), "scores": [0.5, float("inf")]})
    {'loss': None, 'scores': [0.5, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value


def to_json(value: Any, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """The text of a value.

    >>> to_json({"loss": float("nan")})
    '{"loss": null}'
    """
    return json.dumps(finite(value), indent=indent, sort_keys=sort_keys, allow_nan=False)

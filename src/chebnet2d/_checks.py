"""One validator, one sentence: who complains, about which argument, the rule, and the value that broke it."""

import difflib
import math
import numbers
from collections.abc import Collection
from typing import Any


class InputError(ValueError, TypeError):
    """The caller handed over something that cannot be right. The message is meant for that person.

    It is a ``ValueError`` and a ``TypeError`` at once, so that code which expects either catches it.
    """


def describe(value: Any) -> str:
    """A short picture of a value for an error message: never a page of numbers."""
    shape = getattr(value, "shape", None)
    if shape is not None and tuple(shape) != ():
        return f"{type(value).__name__} of shape {tuple(shape)}"
    text = repr(value)
    if len(text) > 60:
        text = text[:57] + "..."
    return f"{text} ({type(value).__name__})"


def fail(owner: str, name: str, rule: str, value: Any, hint: str = "") -> InputError:
    """The one sentence. ``raise fail(...)`` keeps the traceback at the check."""
    return InputError(f"{owner}: {name} must be {rule}, got {describe(value)}." + (f" {hint}" if hint else ""))


def integer(owner: str, name: str, value: Any, minimum: int, maximum: int | None = None) -> int:
    rule = f"an integer >= {minimum}" if maximum is None else f"an integer from {minimum} to {maximum}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise fail(owner, name, rule, value)
    number = int(value)
    if number < minimum or (maximum is not None and number > maximum):
        raise fail(owner, name, rule, value)
    return number


def real(owner: str, name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, below: bool = False) -> float:
    """A finite number in [low, high], or in [low, high) with ``below=True``."""
    if math.isinf(low) and math.isinf(high):
        rule = "a finite number"
    elif math.isinf(high):
        rule = f"a finite number >= {low:g}"
    else:
        rule = f"a number in [{low:g}, {high:g}{')' if below else ']'}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise fail(owner, name, rule, value)
    number = float(value)
    if not math.isfinite(number) or number < low or number > high or (below and number == high):
        raise fail(owner, name, rule, value)
    return number


def flag(owner: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise fail(owner, name, "True or False", value)
    return value


def one_of(owner: str, name: str, value: Any, choices: Collection[str]) -> str:
    if isinstance(value, str) and value in choices:
        return value
    hint = ""
    if isinstance(value, str):
        near = difflib.get_close_matches(value.lower(), list(choices), n=3)
        hint = f"Did you mean {' or '.join(repr(word) for word in near)}?" if near else ""
    raise fail(owner, name, "one of " + ", ".join(repr(choice) for choice in choices), value, hint)

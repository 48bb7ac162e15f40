"""Checks of arguments, and the one error they raise: owner, argument, rule and the value that breaks it."""

import difflib
import functools
import math
import numbers
from collections.abc import Collection, Mapping, Sequence
from typing import Any


class InputError(ValueError, TypeError):
    """An argument that cannot be right. The fields say what is wrong; the message is made from them.

    It is a ``ValueError`` and a ``TypeError``, so that code which expects either catches it.

    Args:
        owner: the function or class that raises it; "" if the argument says enough (a place in a file).
        argument: what is wrong, by the name that the caller knows.
        rule: what it must be.
        value: what it is, shown by ``describe``; ``...`` says that there is none, since None is a value.
        hint: what to do about it, a sentence of its own; each ``{}`` in it stands for one of ``mentions``.
        got: a description of the value, where that says more than the value itself.
        reason: the message of another program about what is wrong.
        verb: the word between "must" and the rule.
        mentions: the arguments that the hint names, so that a command can write its flags instead.

    >>> print(InputError("fit", "seed", "an integer >= 0", -1, hint="Leave it out for 0."))
    fit: seed must be an integer >= 0, got -1 (int). Leave it out for 0.
    """

    def __init__(
        self,
        owner: str,
        argument: str,
        rule: str,
        value: Any = ...,
        hint: str = "",
        *,
        got: str | None = None,
        reason: str | None = None,
        verb: str = "be",
        mentions: Sequence[str] = (),
    ) -> None:
        self.owner, self.argument, self.rule, self.value, self.hint = owner, argument, rule, value, hint
        self.got, self.reason, self.verb, self.mentions = got, reason, verb, tuple(mentions)
        super().__init__(self.sentence())

    def sentence(self, owner: str | None = None, flags: Mapping[str, str] | None = None) -> str:
        """The message. A command gives its own name as ``owner`` and, in ``flags``, its names for the arguments.

        With flags the value is shown without its type: what was typed has none.
        """
        owner, typed, flags = self.owner if owner is None else owner, flags is not None, flags or {}
        words = [f"{owner}:"] if owner else []
        words += [flags.get(self.argument, one_line(self.argument)), "must", *([self.verb] if self.verb else []), self.rule]
        text = " ".join(words)
        if self.reason is not None:
            text += f", got: {one_line(self.reason.rstrip('.'))}"
        elif self.got is not None or self.value is not ...:
            text += f", got {describe(self.value, types=not typed) if self.got is None else one_line(self.got)}"
        hint = self.hint.format(*(flags.get(name, f"{name}=") for name in self.mentions)) if self.mentions else self.hint
        return f"{text}. {hint}".rstrip()

    def __reduce__(self) -> Any:  # by default an exception is rebuilt from ``args``, here the sentence alone
        return functools.partial(type(self), **vars(self)), ()


def one_line(text: str) -> str:
    """Names from a file may hold ends of lines, or orders to a terminal: they are shown as Python writes them."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def describe(value: Any, *, types: bool = True) -> str:
    """A value in a few words, for an error message: the shape of an array instead of its numbers."""
    shape = getattr(value, "shape", None)
    if shape is not None and tuple(shape) != ():
        return f"{type(value).__name__} of shape {tuple(shape)}"
    text = repr(value)
    text = text if len(text) <= 60 else text[:57] + "..."
    return text if isinstance(value, str) or not types else f"{text} ({type(value).__name__})"


def integer(owner: str, name: str, value: Any, minimum: int, maximum: int | None = None) -> int:
    """An integer in [minimum, maximum]; booleans are none."""
    rule = f"an integer >= {minimum}" if maximum is None else f"an integer from {minimum} to {maximum}"
    high = math.inf if maximum is None else maximum
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not minimum <= int(value) <= high:
        raise InputError(owner, name, rule, value)
    return int(value)


def real(owner: str, name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, below: bool = False) -> float:
    """A finite number in [low, high], or in [low, high) with ``below=True``."""
    if math.isinf(low) and math.isinf(high):
        rule = "a finite number"
    elif math.isinf(high):
        rule = f"a finite number >= {low:g}"
    else:
        rule = f"a number in [{low:g}, {high:g}{')' if below else ']'}"
    number = math.nan if isinstance(value, bool) or not isinstance(value, numbers.Real) else float(value)
    if not math.isfinite(number) or number < low or number > high or (below and number == high):
        raise InputError(owner, name, rule, value)
    return number


def flag(owner: str, name: str, value: Any) -> bool:
    """True or False, and nothing that only counts as such."""
    if not isinstance(value, bool):
        raise InputError(owner, name, "True or False", value)
    return value


def one_of(owner: str, name: str, value: Any, choices: Collection[str]) -> str:
    """One of the choices; the error names those that are spelt alike."""
    if isinstance(value, str) and value in choices:
        return value
    near = difflib.get_close_matches(value.lower(), list(choices), n=3) if isinstance(value, str) else []
    hint = f"Did you mean {' or '.join(repr(word) for word in near)}?" if near else ""
    raise InputError(owner, name, "one of " + ", ".join(repr(choice) for choice in choices), value, hint)

"""From a library's sentence about an argument to one about the flag that was typed."""

import re
from collections.abc import Mapping, Sequence

# Arguments whose flag has another name. Of several flags the one is meant that has the value of the sentence.
_FLAGS: Mapping[str, tuple[str, ...]] = {
    "hidden_channels": ("--hidden",),
    "out_channels": ("--hidden",),
    "num_layers": ("--layers",),
    "p": ("--dropout", "--filter-dropout"),
    "number": ("--table",),
    "kind": ("--operator", "--split", "--kind"),
    "style": ("--format",),
    "name": ("--method",),
    "node_id": ("--id-column",),
    "label": ("--label-column",),
    "source": ("--source-column",),
    "target": ("--target-column",),
    "weight": ("--weight-column",),
    "ignore": ("--ignore-column",),
    "path": ("--out", "--preset"),
    "out": ("--out",),
}
_NO_MODEL = "load: path must be a folder written by save"
_GROUPS = ("data", "study")
_SENTENCE = re.compile(r"[\w.-]+: (\w+) (must .*, got (\S+).*)", re.DOTALL)
_TYPE = re.compile(r" \((int|float|str|PosixPath)\)(?=\.)")


def in_flags(sentence: str, typed: Sequence[str]) -> str:
    """``Dropout: p must be ..., got 1.5 (float).`` becomes ``train: --dropout must be ..., got 1.5.`` if that was typed.

    >>> in_flags("Dropout: p must be a number in [0, 1), got 1.5 (float).", ["train", "--filter-dropout", "0.1", "--dropout=1.5"])
    'train: --dropout must be a number in [0, 1), got 1.5.'
    """
    sentence = _TYPE.sub("", sentence).replace(_NO_MODEL, f"{command_of(typed)}: MODEL must be a folder written by train --save")
    found = _SENTENCE.fullmatch(sentence)
    if found is None:
        return sentence
    name, rest, value = found.groups()
    given = _values(typed)
    flags = [flag for flag in (f"--{name.replace('_', '-')}", *_FLAGS.get(name, ())) if flag in given]
    if not flags:
        return sentence
    shown = value.rstrip(".,").strip("'")
    flag = next((flag for flag in flags if _same(given[flag], shown)), flags[0])
    return f"{command_of(typed)}: {flag} {rest}"


def command_of(typed: Sequence[str]) -> str:
    """``study run``, ``train``."""
    return " ".join(typed[:2] if typed and typed[0] in _GROUPS else typed[:1])


def _values(typed: Sequence[str]) -> dict[str, str]:
    """Flag -> the word behind it."""
    values = {}
    for word, following in zip(typed, [*typed[1:], ""], strict=True):
        if word.startswith("--"):
            flag, equals, value = word.partition("=")
            values[flag] = value if equals else following
    return values


def _same(typed: str, shown: str) -> bool:
    try:
        return float(typed) == float(shown)
    except ValueError:
        return typed == shown

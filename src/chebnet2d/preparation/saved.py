"""What a saved preparation may say: each part is checked when it is read from a file."""

from typing import Any

from chebnet2d._checks import InputError, flag, one_of
from chebnet2d._documents import Check
from chebnet2d.preparation.transforms import TRANSFORMS

MADE_FEATURES = ("degree", "identity")
"""Words for features that are made from the graph alone."""
_TEXTS = ("source", "target", "weight", "node_id", "label", "split_column", "time_column", "group_column", "unlabelled")
_WORDS = ("preprocess", "missing_features", "categorical")
_FLAGS = ("header", "lenient")
_OPTIONS = ("features", "ignore", *_TEXTS, *_WORDS, *_FLAGS)
"""Those of ``ReadOptions``, which is above this package and checks the words themselves."""


def _transform(owner: str, name: str, value: Any) -> None:
    one_of(owner, name, value, ("none", *TRANSFORMS))


def _scale(owner: str, name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, dict) or value.keys() != {"mean", "deviation"}:
        raise InputError(owner, name, "a mean and a deviation", value)
    for part, numbers in value.items():
        plain = isinstance(numbers, list) and all(type(number) in (int, float) for number in numbers)
        if not plain or len(numbers) != len(value["mean"]):
            raise InputError(owner, f"{part} of {name}", "numbers, one for each feature", numbers)


def _names(owner: str, name: str, value: Any) -> None:
    if value is not None and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        raise InputError(owner, name, "a list of texts", value)


def _read_options(owner: str, name: str, value: Any) -> None:
    """Options, never paths: which files are read is the caller's to say, not a model's."""
    if not isinstance(value, dict):
        raise InputError(owner, name, "a table of options", value)
    for option, setting in value.items():
        one_of(owner, f"an option among the {name}", option, _OPTIONS)
        if option == "features":
            one_of(owner, f"features among the {name}", setting, MADE_FEATURES)
        elif option == "ignore":
            if not isinstance(setting, list) or not all(isinstance(column, str) for column in setting):
                raise InputError(owner, option, "a list of names", setting)
        elif option in _FLAGS:
            if setting is not None:
                flag(owner, option, setting)
        elif not isinstance(setting, str) and (setting is not None or option in _WORDS):
            raise InputError(owner, option, "a text", setting)


def _reference(owner: str, name: str, value: Any) -> None:
    if value is not None and not (isinstance(value, dict) and {"nodes", "degree", "isolated"} <= value.keys()):
        raise InputError(owner, name, "a table of nodes, degree and isolated", value)


SAVED: dict[str, Check] = {
    "transform": _transform,
    "scale": _scale,
    "feature_names": _names,
    "class_names": _names,
    "read_options": _read_options,
    "reference": _reference,
}

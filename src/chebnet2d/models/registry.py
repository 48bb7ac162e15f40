"""Methods by name: those of this package, those of installed packages, and classes in the user's own files.

    "gprgnn"                   a class with @register("gprgnn") above it, or an entry point of the group "chebnet2d.methods"
    "my_file.py:MyModel"       a class in a file
    "my_package.part:MyModel"  a class in a module that Python can import

Each may end in ":faithful" or ":unified", the variant.
"""

import hashlib
import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from chebnet2d._checks import InputError, one_of
from chebnet2d.models.info import SHIPPED_INFO
from chebnet2d.models.node_classifier import NodeClassifier

MODELS: dict[str, type[NodeClassifier]] = {}
VARIANTS = ("faithful", "unified")
"""faithful: as the method's public code runs. unified: the MLP to C logits, then the method's convolution and nothing else."""
ENTRY_POINTS = "chebnet2d.methods"
_OUTSIDE: dict[str, type[NodeClassifier]] = {}  # by spelling: what this process has found outside the registry
M = TypeVar("M", bound=type[NodeClassifier])


@dataclass(frozen=True)
class MethodName:
    """``model``: a spelling without the variant. ``variant``: "faithful", "unified", or None where the text names none."""

    model: str
    variant: str | None = None

    def __str__(self) -> str:
        return self.model if self.variant is None else f"{self.model}:{self.variant}"


def parse_method(text: str) -> MethodName:
    """The one place that reads ``method:variant``. Nothing is imported; whether the model exists is asked by ``find_model``.

    >>> parse_method("gprgnn:unified"), parse_method("my_file.py:MyModel")
    (MethodName(model='gprgnn', variant='unified'), MethodName(model='my_file.py:MyModel', variant=None))
    """
    if not isinstance(text, str) or not text.strip(":"):
        raise InputError("parse_method", "method", "a name, 'name:variant', 'file.py:Class' or 'package.module:Class'", text)
    model, colon, end = text.rpartition(":")
    if colon and (end in VARIANTS or model in MODELS):
        return MethodName(model, one_of("parse_method", f"the variant of {model!r}", end, VARIANTS))
    return MethodName(text)


def register(name: str) -> Callable[[M], M]:
    """``@register("my-model")`` above a ``NodeClassifier`` makes it known to studies, searches and ``load`` of this process.

    A module in ``chebnet2d/models`` is found by itself. Elsewhere, a name in the entry-point group "chebnet2d.methods" of an
    installed package does the same for the command line; a class in a file needs neither.
    """

    def add(model: M) -> M:
        if name in MODELS:
            raise ValueError(f"register: name must be new, got {name!r}, which is {MODELS[name].__name__}.")
        MODELS[name] = model
        if name in SHIPPED_INFO:
            model.info = SHIPPED_INFO[name]
        return model

    return add


def find_model(method: str | type[NodeClassifier]) -> type[NodeClassifier]:
    """The class of a method in any of its spellings; a class is taken as it is. A variant in the text does not matter here."""
    if not isinstance(method, str):
        return _checked(method, "method")
    text = parse_method(method).model
    known = known_model(text)
    if known is not None and ".py:" not in text:  # which file a relative path means depends on the folder we are in
        return known
    return _from_outside(text) if ":" in text else _from_entry_points(text)


def known_model(text: str) -> type[NodeClassifier] | None:
    """What this process knows by that name already: nothing is imported."""
    return MODELS.get(text) or _OUTSIDE.get(text)


def model_name(model: type[NodeClassifier]) -> str:
    """The name of a class: as it is registered, or as it was spelt when it was found, or ``module:Class``."""
    for name, known in [*MODELS.items(), *_OUTSIDE.items()]:
        if known is model:
            return name
    name = f"{model.__module__}:{model.__qualname__}"
    _OUTSIDE[name] = model
    return name


def _from_entry_points(name: str) -> type[NodeClassifier]:
    found = {point.name: point for point in importlib.metadata.entry_points(group=ENTRY_POINTS)}
    one_of("find_model", "method", name, tuple(dict.fromkeys([*MODELS, *found])))
    model = _checked(found[name].load(), f"the entry point {name!r}")
    return MODELS.setdefault(name, model)  # its module may have registered it when it was imported


def _from_outside(text: str) -> type[NodeClassifier]:
    place, _, name = text.rpartition(":")
    module = _module_of_file(Path(place)) if place.endswith(".py") else _module_of_name(place, text)
    if not hasattr(module, name):
        raise InputError("find_model", "method", f"a class of {place}", text, verb="name")
    _OUTSIDE[text] = _checked(getattr(module, name), f"{name!r} in {place}")
    return _OUTSIDE[text]


def _module_of_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError("find_model", "the file of the method", "a Python file", got=f"{str(path)!r}, which does not exist")
    path = path.resolve()
    name = f"chebnet2d_method_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _module_of_name(place: str, text: str) -> ModuleType:
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{place}.".startswith(f"{error.name}."):
            raise  # the module is there, and what it imports is not
    except (TypeError, ValueError):  # a name that cannot be a module's: "", ".part"
        pass
    hint = "A method is a registered name ('gprgnn'), 'file.py:Class' or 'package.module:Class'; each may end in ':unified'."
    got = f"{text!r}; there is no module {place!r}"
    raise InputError("find_model", "method", "a method that can be found", got=got, hint=hint)


def _checked(model: Any, what: str) -> type[NodeClassifier]:
    if isinstance(model, type) and issubclass(model, NodeClassifier):
        return model
    hint = "A method is a class on chebnet2d.models.NodeClassifier."
    raise InputError("find_model", what, "a NodeClassifier", got=getattr(model, "__name__", None), value=model, hint=hint)

"""Models by name. A decorator registers; duplicates raise; an unknown name lists near ones."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from chebnet2d._checks import one_of
from chebnet2d.models.node_classifier import NodeClassifier

MODELS: dict[str, type[NodeClassifier]] = {}
CANNOT_STACK: dict[str, str] = {}
"""Name -> reason: methods that do not run under ``torch.func.vmap``; their runs are trained one after the other."""
M = TypeVar("M", bound=type[NodeClassifier])


def register(name: str) -> Callable[[M], M]:
    """``@register("my-model")`` above a ``NodeClassifier`` makes it known to studies, searches and ``load`` of this process.

    The command line knows what ``chebnet2d.models`` imports.
    """

    def add(model: M) -> M:
        if name in MODELS:
            raise ValueError(f"register: name must be new, got {name!r}, which is {MODELS[name].__name__}.")
        MODELS[name] = model
        return model

    return add


class MethodName(NamedTuple):
    model: str
    variant: str | None = None


def parse_method(text: str) -> MethodName:
    model, _, variant = text.partition(":")
    return MethodName(model, variant or None)


def find_model(name: str) -> type[NodeClassifier]:
    return MODELS[one_of("find_model", "name", parse_method(name).model, tuple(MODELS))]


def model_name(model: type[NodeClassifier]) -> str:
    for name, known in MODELS.items():
        if known is model:
            return name
    raise ValueError(f"model_name: {model.__name__} must be registered; put @register(...) above it.")

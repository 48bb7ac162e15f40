"""What is tried on a graph: entries, each a method with its default recipe, from cheap to dear."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from chebnet2d import data as datasets
from chebnet2d._checks import InputError
from chebnet2d.models import NodeClassifier, find_model
from chebnet2d.models.estimators.boosting import Boosting
from chebnet2d.recipes import DEFAULT, Recipe, load_recipe


class Line(NamedTuple):
    """The name of an entry, its method, and what it sets beside the method's default recipe."""

    name: str
    method: str
    model: Mapping[str, Any] = MappingProxyType({})
    settings: Mapping[str, Any] = MappingProxyType({})


PORTFOLIO: Sequence[Line] = (
    Line("majority", "majority"),
    Line("logistic:features", "logistic", {"inputs": "features", "columns": 128}),
    Line("logistic:neighbours", "logistic", {"inputs": "neighbours", "columns": 128}),
    Line("boosting:features", "boosting", {"inputs": "features"}),
    Line("boosting:neighbours", "boosting", {"inputs": "neighbours"}),
    Line("boosting:labels", "boosting", {"inputs": "labels"}),
    Line("mlp", "mlp"),
    Line("gprgnn", "gprgnn"),
    Line("chebnet2d", "chebnet2d"),
    Line("tuned-gcn", "tuned-gcn"),
    Line("tuned-sage", "tuned-sage"),
    Line("chebnetii", "chebnetii"),
    Line("linkx", "linkx"),
    # For labels that far nodes decide, as on Minesweeper; other settings than those of two layers do well there. Narrow, and
    # without residuals (a layer has a map of the node itself already), it takes a quarter of the time and loses half a point.
    Line(
        "tuned-sage:deep",
        "tuned-sage",
        {"num_layers": 6, "hidden_channels": 32, "norm": "batch", "residual": False, "dropout": 0.2},
        {"lr": 0.01, "weight_decay": 0.0},
    ),
    Line("chebnet2d-plus", "chebnet2d-plus"),
)
_QUICKER = "gprgnn"  # the last entry that comes before boosting where that is dear
_FEATURES_ONLY = ("majority", "mlp")
_FOR_ANY_NODES = {"rows": False}  # the switch of methods that can do without numbers for each node
_LONG, _SHORT = {"epochs": 1000, "patience": 100}, {"epochs": 500, "patience": 50}
_LARGE = 5_000_000  # numbers of the features and edges, from which epochs are dear
_FEW = 256  # columns times trees, up to which boosting is quicker than gradient steps


@dataclass(frozen=True)
class Entry:
    """``graph``: whether it looks at edges at all."""

    name: str
    recipe: Recipe
    graph: bool


def make_portfolio(data: Any, methods: Sequence[str] | None = None, *, inductive: bool = False) -> list[Entry]:
    """The entries for a graph, in order.

    Args:
        methods: names of entries, or of methods for all entries of a method, in any spelling; default: the whole portfolio.
        inductive: leave out methods that hold numbers for each node. Of a named one that is an error.
    """
    wanted = [*dict.fromkeys(name for text in methods or () for name in _names(text))] or _from_cheap_to_dear(data)
    known = {line.name: line for line in PORTFOLIO}
    entries = []
    for name in wanted:
        line = known.get(name, Line(name, name))
        method = line.method
        recipe = load_recipe(method, DEFAULT)
        switches = inspect.signature(find_model(method)).parameters
        free = {switch: value for switch, value in _FOR_ANY_NODES.items() if inductive and switch in switches}
        settings = {**recipe.settings, **line.settings, **_stopping(recipe, data)}
        recipe = replace(recipe, model={**recipe.model, **line.model, **free}, settings=settings)
        if inductive and is_bound(recipe, data):
            if methods and (name in methods or method not in methods):
                rule, hint = "of methods that serve any graph", "Leave it out, or leave out {}."
                raise InputError("auto", "methods", rule, name, hint, mentions=("inductive",))
            continue
        features_only = method in _FEATURES_ONLY or recipe.model.get("inputs") == "features"
        entries.append(Entry(name, recipe, not features_only))
    return entries


def is_bound(recipe: Recipe, data: Any) -> bool:
    """Whether a model of this recipe holds numbers for each node of the graph."""
    model = recipe.build(data)
    return isinstance(model, NodeClassifier) and model.bound_to_nodes


def _from_cheap_to_dear(data: Any) -> list[str]:
    """The order of ``PORTFOLIO``; but boosting, a tree for each class, comes after cheap networks if columns are many."""
    names = [line.name for line in PORTFOLIO]
    classes = datasets.num_classes(data)
    model = load_recipe("boosting", DEFAULT).build(data)
    assert isinstance(model, Boosting)
    if model.inputs.width * (1 if classes == 2 else classes) <= _FEW:
        return names
    trees = [line.name for line in PORTFOLIO if line.method == "boosting"]
    others = [name for name in names if name not in trees]
    place = others.index(_QUICKER) + 1
    return [*others[:place], *trees, *others[place:]]


def _names(text: str) -> list[str]:
    own = [line.name for line in PORTFOLIO if text in (line.name, line.method)]
    if not own:
        find_model(text)
    return own or [text]


def _stopping(recipe: Recipe, data: Any) -> dict[str, Any]:
    """Epochs and patience of methods that are trained by gradient steps: shorter than those of ``train``, for many are trained.

    A function of sizes alone, never of the time that an epoch takes: the same graph, the same numbers.
    """
    if find_model(recipe.method).trained_by != "gradient":
        return {}
    x = data.x
    numbers = int(x.values().numel()) if x.layout != torch.strided else int((x != 0).sum())
    return _SHORT if numbers + int(data.edge_index.shape[1]) > _LARGE else _LONG

"""What a search may choose from: a finite list of values for each name, from the paper's appendix B and the methods' papers."""

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chebnet2d._checks import InputError, one_of
from chebnet2d.models import NodeClassifier, find_model, parse_method
from chebnet2d.nn import Dropout
from chebnet2d.recipes import Recipe, search_ranges
from chebnet2d.recipes.files import SHARED_MLP
from chebnet2d.training import Settings

LEARNING_RATES = (1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5)
WEIGHT_DECAYS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
DROPOUT_RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
DEGREES = (2, 4, 8, 10, 12, 16)
_TINY = 1e-12  # stands for zero where values are compared by their ratio
SIZES = ("in_channels", "out_channels", "num_nodes")


@dataclass(frozen=True)
class Axis:
    """One name with its values. ``part``: whether it is an argument of the model or a setting of the training.

    Numbers are in increasing order, so that their positions mean something to a sampler.
    """

    name: str
    part: str
    values: tuple[Any, ...]

    @property
    def ordered(self) -> bool:
        return all(_is_number(value) for value in self.values)

    def nearest(self, value: Any) -> int:
        """Position of the value nearest to this one: by ratio where all are positive or zero, else by difference."""
        if value in self.values:
            return self.values.index(value)
        if not self.ordered or not _is_number(value):
            return 0
        by_ratio = min(value, *self.values) >= 0
        far = [abs(math.log((own + _TINY) / (value + _TINY)) if by_ratio else own - value) for own in self.values]
        return far.index(min(far))


@dataclass(frozen=True)
class Space:
    """The product of axes. A point is one position on each axis."""

    axes: tuple[Axis, ...]

    @property
    def size(self) -> int:
        return math.prod(len(axis.values) for axis in self.axes)

    def point(self, positions: Mapping[str, int]) -> tuple[dict[str, Any], dict[str, Any]]:
        """(arguments of the model, settings of the training) at the given positions."""
        chosen: dict[str, dict[str, Any]] = {"model": {}, "settings": {}}
        for axis in self.axes:
            chosen[axis.part][axis.name] = axis.values[positions[axis.name]]
        return chosen["model"], chosen["settings"]

    def nearest(self, recipe: Recipe) -> dict[str, int]:
        """The point nearest to a recipe; what the recipe does not name has the default of the class."""
        defaults = {name: p.default for name, p in inspect.signature(find_model(recipe.method)).parameters.items()}
        model, settings = {**defaults, **recipe.model}, Settings.of(**recipe.settings)
        return {a.name: a.nearest(model.get(a.name) if a.part == "model" else _setting(settings, a.name)) for a in self.axes}

    def every_point(self, seed: int) -> Iterator[dict[str, int]]:
        """All points, each once, in an order that jumps about: the first few are spread over the whole grid."""
        step = round(self.size * 0.6180339887) + seed
        while math.gcd(step, self.size) != 1:  # a step without a common factor comes to every point
            step += 1
        for number in range(self.size):
            rest = (number * step + seed) % self.size
            positions = {}
            for axis in self.axes:
                rest, positions[axis.name] = divmod(rest, len(axis.values))
            yield positions


def make_space(method: str, ranges: Mapping[str, Sequence[Any]] | None = None) -> Space:
    """The space of a method, in any of its spellings.

    Learning rate and weight decay of the weights and of every other optimiser group, dropout rates and the degree have the
    paper's ranges, where the variant knows them. The method's own ranges are added to them: those in its presets (``[search]``)
    and those that its class carries (``search_space``). The MLP of the unified architecture is not searched: it is the same for
    all methods. ``ranges`` replaces the values of a name, or adds a name: any argument of the model or any setting. A name with
    one value is fixed.
    """
    cls = find_model(method)
    arguments = [name for name in inspect.signature(cls).parameters if name not in SIZES]
    values: dict[tuple[str, str], list[Any]] = {}
    small = _small_model(method)
    trained = {small.group_of(name) for name, _ in small.named_parameters()}
    # A method without parameters has no learning rates.
    for group in ("", *(f"{name}_" for name in cls.groups if name in trained)) if trained else ():
        values["settings", f"{group}lr"] = list(LEARNING_RATES)
        values["settings", f"{group}weight_decay"] = list(WEIGHT_DECAYS)
    for name in arguments:
        if name.endswith("dropout") and _rates(small) != _rates(_small_model(method, **{name: 0.123})):
            values["model", name] = list(DROPOUT_RATES)
        elif name == "degree":
            values["model", name] = list(DEGREES)
    for part, table in [*search_ranges(method).items(), *cls.search_space.items()]:
        one_of("make_space", f"a part of the search space of {method!r}", part, ("model", "settings"))
        for name, own in table.items():
            if part == "model":
                one_of("make_space", f"a model argument in the search space of {method!r}", name, arguments)
            values.setdefault((part, name), []).extend(_checked_values("make_space", name, own))
    if parse_method(method).variant == "unified":
        values = {key: own for key, own in values.items() if key[1] not in (*SHARED_MLP, "num_layers")}
    settings = [*(name for part, name in values if part == "settings"), "optimizer"]
    for name, given in (ranges or {}).items():
        one_of("search", "the name of a range", name, (*arguments, *settings))
        values["model" if name in arguments else "settings", name] = _checked_values("search", name, given)
    names = [name for _, name in values]
    if len(set(names)) < len(names):
        raise InputError("make_space", f"a name of {method!r}", "an argument of the model or a setting, not both")
    return Space(tuple(Axis(name, part, _in_order(found)) for (part, name), found in values.items() if found))


def _checked_values(owner: str, name: str, values: Any) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InputError(owner, f"the range of {name}", "a list of values, at least one", values)
    return list(values)


def _small_model(method: str, **changes: float) -> NodeClassifier:
    cls, variant = find_model(method), parse_method(method).variant
    known = inspect.signature(cls).parameters
    given = {**dict.fromkeys(SIZES, 4), **({"variant": variant} if variant else {})}
    return cls(**{name: value for name, value in given.items() if name in known}, **changes)


def _rates(model: NodeClassifier) -> list[float]:
    return [float(module.p) for module in model.modules() if isinstance(module, Dropout)]


def _in_order(values: Sequence[Any]) -> tuple[Any, ...]:
    different = list(dict.fromkeys(values))
    return tuple(sorted(different)) if all(_is_number(value) for value in different) else tuple(different)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _setting(settings: Settings, name: str) -> Any:
    for ending in ("weight_decay", "lr"):
        if name.endswith(ending):
            return getattr(settings.group(name.removesuffix(ending).removesuffix("_")), ending)
    return getattr(settings, name, None)

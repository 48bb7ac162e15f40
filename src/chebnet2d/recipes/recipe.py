"""One object that says how a method is run on data: from features to a result."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chebnet2d import data as datasets
from chebnet2d._checks import InputError, one_of
from chebnet2d.bases import OPERATORS, BasesSpec
from chebnet2d.models import (
    READINGS,
    Decoupled,
    FilterFirst,
    NodeClassifier,
    OnBases,
    StoredBases,
    find_model,
    on_bases,
    parse_method,
)
from chebnet2d.training import Result, Run, Settings, fit
from chebnet2d.training.run import SplitLike

NO_TRANSFORM = "none"
SEARCHED = "found by search"
STARTED = " (the start: "  # and the origin of that, where a search kept what it began with
"""How the origin of settings begins that a search has found."""
CLASS_DEFAULTS = "defaults of the class"


def short_origin(origin: str) -> str:
    """Without the ranges of a search, for a line on a screen.

    >>> short_origin("found by search: trial 3 of 12; space lr 0.1|0.2")
    'found by search: trial 3 of 12'
    """
    return origin.partition("; space ")[0]


@dataclass(frozen=True)
class Recipe:
    """How a method is run on a dataset, and where the numbers come from.

    Args:
        method: a name, or the place of an outside method; it may end in ``:variant``, which becomes ``variant``.
        variant: "faithful" or "unified"; None: what the class has by default.
        dataset: what the recipe was made for.
        transform: preparation of the features, by name; "none" for none.
        model: arguments of the class besides its sizes.
        settings: of the training, by the names of ``Settings``.
        origin: where the numbers come from, for people.

    >>> Recipe("gprgnn:unified", model={"degree": 4}).name
    'gprgnn:unified'
    """

    method: str
    variant: str | None = None
    dataset: str = ""
    transform: str = NO_TRANSFORM
    model: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    origin: str = CLASS_DEFAULTS

    def __post_init__(self) -> None:
        one_of("Recipe", "transform", self.transform, (NO_TRANSFORM, *datasets.TRANSFORMS))
        asked, model = parse_method(self.method), dict(self.model)
        in_model = model.pop("variant", None)  # preset files have it among the arguments, as the class has
        object.__setattr__(self, "method", asked.model)
        object.__setattr__(self, "variant", in_model or self.variant or asked.variant)
        object.__setattr__(self, "model", model)

    @property
    def name(self) -> str:
        """``method``, or ``method:variant``."""
        return f"{self.method}:{self.variant}" if self.variant else self.method

    @property
    def arguments(self) -> dict[str, Any]:
        """Of the class, besides its sizes."""
        return {**self.model, **({"variant": self.variant} if self.variant else {})}

    # ---- running ------------------------------------------------------------------------------------------
    def prepare(self, data: Any) -> Any:
        """The data with its features transformed; bases as they are, whose features were transformed before they were computed.

        The preparation stays with the data, and ``fit`` hands it to the model, which prepares other graphs alike.
        """
        if isinstance(data, StoredBases) or self.transform == NO_TRANSFORM:
            return data
        return datasets.Preparation.fit(data, self.transform).apply(data)

    def build(self, data: Any) -> NodeClassifier | OnBases:
        """A model for prepared data: sizes from the data, the rest from the recipe.

        Of bases, the model that reads them; arguments without a meaning there, as a dropout between MLP and filter, are left out.
        """
        cls = find_model(self.method)
        if isinstance(data, StoredBases):
            kind = READINGS.get(self.model.get("reading", ""), FilterFirst)
            known = {*inspect.signature(kind).parameters, *inspect.signature(getattr(cls, "convolution", cls)).parameters}
            return on_bases(cls, data, **{name: self.model[name] for name in self.model if name in {*known, "reading"}})
        sizes = {"in_channels": data.num_features, "out_channels": datasets.num_classes(data)}
        if "num_nodes" in inspect.signature(cls).parameters:
            sizes["num_nodes"] = data.num_nodes
        try:
            return cls(**{**sizes, **self.arguments})
        except TypeError as error:
            if isinstance(error, InputError):
                raise
            rule = f"those of {cls.__name__}"
            raise InputError("Recipe", f"the arguments of {self.method!r}", rule, reason=str(error)) from None

    def bases_spec(self, num_features: int, rows: str = "labelled") -> BasesSpec:
        """The bases that the method's convolution is a combination of; a method without is refused."""
        cls = find_model(self.method)
        rule = "a polynomial of L_hat, P or P~ whose terms can be computed before the training"
        if not issubclass(cls, Decoupled):
            raise InputError("Recipe", f"the method {self.method!r}", rule, got="none")
        known = inspect.signature(cls.convolution).parameters
        options = {name: value for name, value in self.model.items() if name in known}
        conv = cls.convolution(num_features, num_features, **options)
        operator = "L_hat" if conv.operator == "P" else conv.operator
        if operator not in OPERATORS:
            raise InputError("Recipe", f"the method {self.method!r}", rule, got=f"one of {operator}")
        basis = "chebyshev" if conv.basis.fixed else conv.basis
        return BasesSpec(basis=basis, degree=conv.degree, operator=operator, rows=rows)

    def runs(self, data: Any, splits: Iterable[tuple[SplitLike, int]]) -> list[Run]:
        """Runs for ``fit_many`` on prepared data: one for each split and seed."""
        settings = Settings.of(**self.settings)
        return [Run(self.build(data), split, seed, settings) for split, seed in splits]

    def train(self, data: Any, split: SplitLike, seed: int = 0, **options: Any) -> Result:
        """Prepare the data, build a model and fit it.

        ``split``: of ``data``; where the transform leaves nodes out ("largest-component"), of ``prepare(data)``.
        ``options``: those of ``fit``, settings included.
        """
        prepared = self.prepare(data)
        return fit(self.build(prepared), prepared, split, seed, **{**self.settings, **options})

    def to_json(self) -> dict[str, Any]:
        """The arguments of a recipe. The variant is among the model's, as in preset files."""
        facts = {"method": self.method, "dataset": self.dataset, "origin": self.origin, "transform": self.transform}
        return {**facts, "model": self.arguments, "settings": dict(self.settings)}

    def identity(self) -> dict[str, Any]:
        """What results depend on: all but the origin. Digests of it are the ids of stored runs, so its form must stay."""
        return {**self.to_json(), "origin": ""}

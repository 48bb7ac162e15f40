"""A frozen protocol: which methods, on which datasets, with which splits, how often. Everything else follows from it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.data import CATALOGUE, SPLIT_KINDS
from chebnet2d.data.catalogue import EMBEDDED_TITLES
from chebnet2d.models import find_model, parse_method
from chebnet2d.models.registry import located
from chebnet2d.recipes import Recipe, canonical_name, load_recipe
from chebnet2d.recipes.files import read_toml
from chebnet2d.reports import published_numbers
from chebnet2d.training import Settings

LIMITS = ("epochs", "patience")


@dataclass(frozen=True)
class Protocol:
    """What a study does: ``splits`` x ``inits`` runs for each method and dataset.

    Args:
        methods: names, or places of outside methods (``my_file.py:MyModel``), each perhaps with ``:variant``.
        datasets: names of the catalogue, or aliases, in any case; they are kept as the catalogue has them.
        split: the kind of split, or several kinds; each has its own table.
        inits: initialisations on each split.
        first_seed: of the splits, which are numbered from it.
        epochs, patience, monitor: the same for every method, whatever its recipe says.
        width: runs per stack; default: what the caches hold.
        presets: preset files of the user's, by method; others come from the package.
        limits: other ``epochs`` and ``patience`` on single datasets: {"photo": {"epochs": 400, "patience": 50}}.
    """

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    split: str | tuple[str, ...] = "uniform"
    splits: int = 10
    inits: int = 10
    first_seed: int = 0
    epochs: int = 2000
    patience: int = 200
    monitor: str = "accuracy"
    width: int | None = None
    presets: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.datasets, tuple):
            object.__setattr__(self, "datasets", tuple(canonical_name(dataset) for dataset in self.datasets))
        limits = {canonical_name(dataset): changes for dataset, changes in _table("limits", self.limits).items()}
        if len(limits) < len(self.limits):
            raise InputError("Protocol", "limits", "of different datasets", tuple(self.limits))
        object.__setattr__(self, "limits", limits)
        for name, value in (("methods", self.methods), ("datasets", self.datasets), ("split", self.split_kinds)):
            named = isinstance(value, tuple) and all(isinstance(one, str) for one in value)
            if not named or not value or len(set(value)) < len(value):
                raise InputError("Protocol", name, "different names, at least one", value)
        for method in self.methods:
            try:
                find_model(method)
            except InputError as error:
                raise InputError(**{**vars(error), "owner": "Protocol", "argument": "methods"}) from None
        for dataset in self.datasets:
            one_of("Protocol", "datasets", dataset, (*EMBEDDED_TITLES, *CATALOGUE))
        for split in self.split_kinds:
            one_of("Protocol", "split", split, tuple(SPLIT_KINDS))
        for name, minimum in (("splits", 1), ("inits", 1), ("first_seed", 0), ("epochs", 1), ("patience", 1)):
            integer("Protocol", name, getattr(self, name), minimum)
        if self.width is not None:
            integer("Protocol", "width", self.width, 1)
        Settings.of(monitor=self.monitor)
        names = (*self.methods, *(parse_method(method).model for method in self.methods))
        for method, path in _table("presets", self.presets).items():
            one_of("Protocol", "presets", method, tuple(dict.fromkeys(names)))
            if not isinstance(path, str):
                raise InputError("Protocol", f"presets.{method}", "the path of a preset file", path)
        for dataset, changes in self.limits.items():
            one_of("Protocol", "limits", dataset, self.datasets)
            for name, value in _table(f"limits.{dataset}", changes).items():
                one_of("Protocol", f"limits.{dataset}", name, LIMITS)
                integer("Protocol", f"limits.{dataset}.{name}", value, 1)

    @property
    def split_kinds(self) -> tuple[str, ...]:
        return (self.split,) if isinstance(self.split, str) else self.split

    @classmethod
    def from_table(cls, number: int, *, methods: Sequence[str] = (), datasets: Sequence[str] = (), **changes: Any) -> "Protocol":
        """The protocol of one of the paper's tables, or a part of it."""
        if not isinstance(number, int) or str(number) not in ("1", "2", "3"):
            raise InputError("Protocol.from_table", "number", "1, 2 or 3", number)
        table = published_numbers()[str(number)]
        return cls(tuple(methods or table), tuple(datasets or table["chebnet2d"]), **changes)

    @classmethod
    def from_toml(cls, path: Path) -> "Protocol":
        """From a file with the names of this class, or with ``table = 1`` and what differs from it.

        Relative paths in ``presets`` and of methods in files begin at the folder of the file.
        """
        folder, values = Path(path).parent, _with_tuples(read_toml("Protocol", "path", path))
        for name in values:
            one_of("Protocol", "a name in the file", name, ("table", *cls.__dataclass_fields__))
        if isinstance(values.get("methods"), tuple):
            values["methods"] = tuple(located(m, folder) if isinstance(m, str) else m for m in values["methods"])
        if "presets" in values:
            values["presets"] = {
                located(method, folder): str(folder / preset) if isinstance(preset, str) else preset
                for method, preset in _table("presets", values["presets"]).items()
            }
        if "table" in values:
            return cls.from_table(values.pop("table"), **values)
        for name in ("datasets", "methods"):
            if name not in values:
                rule = "methods and datasets (or table)"
                raise InputError("Protocol", f"{str(path)!r}", rule, got=f"no {name}", verb="have")
        return cls(**values)

    def limits_on(self, dataset: str) -> dict[str, int]:
        """``epochs`` and ``patience`` of all runs on a dataset."""
        return {name: self.limits.get(dataset, {}).get(name, getattr(self, name)) for name in LIMITS}

    def recipe(self, method: str, dataset: str) -> Recipe:
        """What a method is run by, with the early stopping of the study."""
        recipe = load_recipe(method, dataset, self.presets.get(method) or self.presets.get(parse_method(method).model))
        shared = {**self.limits_on(recipe.dataset), "monitor": self.monitor}
        return replace(recipe, settings={**recipe.settings, **shared})

    def to_json(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Protocol":
        return cls(**_with_tuples(values))


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _table(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("Protocol", name, "a table of names and values", value)
    return value

"""A frozen protocol: which methods, on which datasets, with which splits, how often. Everything else follows from it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.data import CATALOGUE, SPLIT_KINDS
from chebnet2d.data.any_graph import is_own_graph
from chebnet2d.data.catalogue import EMBEDDED_TITLES, known_name
from chebnet2d.models import find_model, parse_method
from chebnet2d.models.registry import located
from chebnet2d.recipes import Recipe, canonical_name, load_recipe
from chebnet2d.recipes.files import read_toml
from chebnet2d.reports import published_numbers
from chebnet2d.study.arms import Arm
from chebnet2d.study.points import known_names
from chebnet2d.study.selection import FIRST_SEED, Selection
from chebnet2d.training import Settings

LIMITS = ("epochs", "patience")
KEEP = ("curves", "predictions")


@dataclass(frozen=True)
class Protocol:
    """What a study does: ``splits`` x ``inits`` runs for each method and dataset.

    Args:
        methods: names, or places of outside methods (``my_file.py:MyModel``), each perhaps with ``:variant``.
        datasets: names of the catalogue, or aliases, in any case; they are kept as the catalogue has them.
        split: the kind of split, or several kinds, each of which has its own table; or a table with the kind for each dataset.
        inits: initialisations on each split.
        first_seed: of the splits, which are numbered from it.
        epochs, patience, monitor: the same for every method, whatever its recipe says.
        width: runs per stack; default: what the caches hold.
        presets: preset files of the user's, by method; others come from the package.
        limits: other ``epochs``, ``patience`` and ``splits`` on single datasets: {"photo": {"epochs": 400, "splits": 5}}.
        arms: variations of methods under names of their own, see ``Arm``; ``methods`` has their names too.
        search: how the settings of every method are chosen, see ``Selection``; None: they come from presets.
        keep: what is stored of each run besides its numbers: "curves" (validation metric per epoch), "predictions" (classes of
            the test nodes).
    """

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    split: str | tuple[str, ...] | Mapping[str, str] = "uniform"
    splits: int = 10
    inits: int = 10
    first_seed: int = 0
    epochs: int = 2000
    patience: int = 200
    monitor: str = "accuracy"
    width: int | None = None
    presets: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    arms: Mapping[str, Arm] = field(default_factory=dict)
    search: Selection | None = None
    keep: tuple[str, ...] = ("curves",)

    def __post_init__(self) -> None:
        self._normalise()
        for name, value in (("methods", self.methods), ("datasets", self.datasets), ("split", self.split_kinds)):
            named = isinstance(value, tuple) and all(isinstance(one, str) for one in value)
            if not named or not value or len(set(value)) < len(value):
                raise InputError("Protocol", name, "different names, at least one", value)
        for method in self.methods:
            try:
                find_model(self.arms[method].method if method in self.arms else method)
            except InputError as error:
                raise InputError(**{**vars(error), "owner": "Protocol", "argument": "methods"}) from None
        for dataset in self.datasets:
            if not is_own_graph(dataset):
                one_of("Protocol", "datasets", dataset, (*EMBEDDED_TITLES, *CATALOGUE))
        for split in self.split_kinds:
            one_of("Protocol", "split", split, tuple(SPLIT_KINDS))
        for name, minimum in (("splits", 1), ("inits", 1), ("first_seed", 0), ("epochs", 1), ("patience", 1)):
            integer("Protocol", name, getattr(self, name), minimum)
        if self.width is not None:
            integer("Protocol", "width", self.width, 1)
        for name in self.keep:
            one_of("Protocol", "keep", name, KEEP)
        Settings.of(monitor=self.monitor)
        names = (*self.methods, *(parse_method(method).model for method in self.methods))
        for method, path in _table("presets", self.presets).items():
            one_of("Protocol", "presets", method, tuple(dict.fromkeys(names)))
            if not isinstance(path, str):
                raise InputError("Protocol", f"presets.{method}", "the path of a preset file", path)
        for dataset, changes in self.limits.items():
            one_of("Protocol", "limits", dataset, self.datasets)
            for name, value in _table(f"limits.{dataset}", changes).items():
                one_of("Protocol", f"limits.{dataset}", name, (*LIMITS, "splits"))
                integer("Protocol", f"limits.{dataset}.{name}", value, 1)
        if self.search is not None:
            self._check_search(self.search)

    def _normalise(self) -> None:
        """Names as the catalogue has them, and tables of a file or of JSON as objects."""
        arms = {name: Arm.of(name, arm) for name, arm in _table("arms", self.arms).items()}
        object.__setattr__(self, "arms", arms)
        if isinstance(self.methods, tuple):
            object.__setattr__(self, "methods", (*self.methods, *(name for name in arms if name not in self.methods)))
        if isinstance(self.datasets, tuple):
            object.__setattr__(self, "datasets", tuple(_known_or_absolute(dataset) for dataset in self.datasets))
        if self.search is not None:
            object.__setattr__(self, "search", Selection.of(self.search))
        for name in ("limits", *(["split"] if isinstance(self.split, Mapping) else [])):
            given = _table(name, getattr(self, name))
            known = {_known_or_absolute(dataset): value for dataset, value in given.items()}
            if len(known) < len(given):
                raise InputError("Protocol", name, "of different datasets", tuple(given))
            object.__setattr__(self, name, known)
        if isinstance(self.split, Mapping) and set(self.split) != set(self.datasets):
            missing = [dataset for dataset in self.datasets if dataset not in self.split]
            rule = "a kind for each dataset of the study and for no other"
            got = f"none for {', '.join(missing)}" if missing else ", ".join(self.split)
            raise InputError("Protocol", "split", rule, got=got, verb="have")

    def _check_search(self, search: Selection) -> None:
        """Nothing that chooses is reported: neither splits nor initialisations."""
        for dataset in self.datasets:
            splits = self.split_seeds(dataset)
            if (splits[-1] + 1) * self.inits > FIRST_SEED:
                raise InputError("Protocol", "first_seed", f"so small that seeds stay below {FIRST_SEED}", self.first_seed)
            if search.mode == "development" and (meeting := sorted(set(splits) & set(search.splits))):
                rule = f"none of the reported splits {splits[0]} to {splits[-1]}"
                raise InputError("Protocol", "search.splits", rule, got=", ".join(map(str, meeting)))
        for table in search.ranges:
            known = ("all", *self.methods, *(parse_method(method).model for method in self.methods))
            one_of("Protocol", "search.ranges", table, tuple(dict.fromkeys(known)))
        for name in search.space:
            if not any(name in known_names(self.recipe(method, self.datasets[0])) for method in self.methods):
                raise InputError("Protocol", "search.space", "names that some method knows", name, verb="have")

    @property
    def split_kinds(self) -> tuple[str, ...]:
        """All kinds, whichever datasets have them."""
        if isinstance(self.split, Mapping):
            return tuple(dict.fromkeys(self.split.values()))
        return (self.split,) if isinstance(self.split, str) else self.split

    def kinds_on(self, dataset: str) -> tuple[str, ...]:
        return (self.split[dataset],) if isinstance(self.split, Mapping) else self.split_kinds

    def split_seeds(self, dataset: str) -> range:
        """Of the splits that are reported."""
        return range(self.first_seed, self.first_seed + self.limits.get(dataset, {}).get("splits", self.splits))

    @classmethod
    def from_table(cls, number: int, *, methods: Sequence[str] = (), datasets: Sequence[str] = (), **changes: Any) -> "Protocol":
        """The protocol of one of the paper's tables, or a part of it; each dataset has the split of the paper's experiments."""
        if not isinstance(number, int) or str(number) not in ("1", "2", "3"):
            raise InputError("Protocol.from_table", "number", "1, 2 or 3", number)
        table = published_numbers()[str(number)]
        *_, ours = table.values()  # the paper's own method, which was run on all
        names = tuple(canonical_name(dataset) for dataset in datasets or ours)
        paper = {name: CATALOGUE[name].split if name in CATALOGUE else "uniform" for name in names}
        kinds = set(paper.values())
        split: Any = kinds.pop() if len(kinds) == 1 else paper
        return cls(tuple(methods or table), names, **{"split": split, **changes})

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
        if isinstance(values.get("datasets"), tuple):
            values["datasets"] = tuple(_placed(dataset, folder) for dataset in values["datasets"])
        if isinstance(values.get("arms"), Mapping):
            values["arms"] = {name: _located_arm(arm, folder) for name, arm in values["arms"].items()}
            values.setdefault("methods", ())
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
        """What a method is run by, with the early stopping of the study.

        With a search: what is not searched, and its start. Shipped settings that were searched before are passed over then.
        """
        preset, known = self.presets.get(method) or self.presets.get(parse_method(method).model), self.search is None
        make = self.arms[method].recipe if method in self.arms else partial(load_recipe, method)
        recipe = make(dataset, preset, searched=known)
        shared = {**self.limits_on(recipe.dataset), "monitor": self.monitor}
        return replace(recipe, settings={**recipe.settings, **shared})

    def to_json(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Protocol":
        return cls(**_with_tuples(values))


def _known_or_absolute(dataset: Any) -> Any:
    """The catalogue's name of a dataset; of a graph of the user's own a path that holds in other processes too."""
    own = isinstance(dataset, str) and is_own_graph(dataset)
    return str(Path(dataset).absolute()) if own else canonical_name(dataset)


def _placed(dataset: Any, folder: Path) -> Any:
    """The path of a graph of the user's own, which begins at the folder of the file; a dataset's name as it is."""
    own = isinstance(dataset, str) and known_name(dataset) is None and is_own_graph(str(folder / dataset))
    return str(folder / dataset) if own else dataset


def _located_arm(arm: Any, folder: Path) -> Any:
    named = isinstance(arm, Mapping) and isinstance(arm.get("method"), str)
    return {**arm, "method": located(arm["method"], folder)} if named else arm


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _table(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("Protocol", name, "a table of names and values", value)
    return value

"""A frozen protocol: which methods, on which datasets, with which splits, how often. Everything else follows from it."""

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.data import CATALOGUE, SPLIT_KINDS
from chebnet2d.data.catalogue import EMBEDDED_TITLES
from chebnet2d.models import MODELS
from chebnet2d.recipes.preset_files import Preset, canonical_name, load_preset, load_unified_preset
from chebnet2d.training import Settings

MEDIUM = ("cora", "citeseer", "pubmed", "computers", "photo", "chameleon", "squirrel", "texas", "cornell", "actor")
CHALLENGING = (
    "ogbn-arxiv",
    "ogbn-products",
    "penn94",
    "genius",
    "twitch-gamers",
    "roman-empire",
    "tolokers",
    "amazon-ratings",
)
TABLE_METHODS: dict[int, tuple[str, ...]] = {
    1: (
        "appnp",
        "gprgnn",
        "gnn-lf",
        "gnn-hf",
        "bernnet",
        "chebnetii",
        "optbasis",
        "dsgc",
        "specgn",
        "adc",
        "jacobiconv",
        "gcn",
        "gcnii",
        "pdegcn",
        "nodeformer",
        "glognn",
        "chebnet2d",
    ),
    2: ("gcn", "appnp", "gprgnn", "specgn", "jacobiconv", "chebnetii", "optbasis", "linkx", "nodeformer", "glognn", "chebnet2d"),
    3: (
        "gprgnn:unified",
        "chebnetii:unified",
        "optbasis:unified",
        "specgn:unified",
        "jacobiconv:unified",
        "chebnet2d",
    ),
}
TABLE_DATASETS: dict[int, tuple[str, ...]] = {
    1: MEDIUM,
    2: CHALLENGING,
    3: ("cora", "computers", "ogbn-arxiv", "ogbn-products", "penn94", "twitch-gamers", "roman-empire", "amazon-ratings"),
}

LIMITS = ("epochs", "patience")


@dataclass(frozen=True)
class Protocol:
    """What a study does. ``methods``: names, or ``name:variant``. ``splits`` x ``inits`` runs for each method and dataset.

    ``datasets``: names of the catalogue, or aliases, in any case; they are kept as the catalogue has them.
    ``split``: how nodes are split, or several such names; each has its own table.
    ``presets``: preset files of the user's, by method; others come from the package. ``epochs``, ``patience`` and ``monitor``
    hold for every method: the same trainer and the same early stopping for all. ``limits``: other ``epochs`` and ``patience`` on
    single datasets, again for every method there: {"photo": {"epochs": 400, "patience": 50}}.
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
        for name in ("methods", "datasets", "split"):
            value = self.split_names if name == "split" else getattr(self, name)
            named = isinstance(value, tuple) and all(isinstance(one, str) for one in value)
            if not named or not value or len(set(value)) < len(value):
                raise InputError("Protocol", name, "different names, at least one", value)
        for method in self.methods:
            one_of("Protocol", "methods", method.partition(":")[0], tuple(MODELS))
        for dataset in self.datasets:
            one_of("Protocol", "datasets", dataset, (*EMBEDDED_TITLES, *CATALOGUE))
        for split in self.split_names:
            one_of("Protocol", "split", split, tuple(SPLIT_KINDS))
        for name, minimum in (("splits", 1), ("inits", 1), ("first_seed", 0), ("epochs", 1), ("patience", 1)):
            integer("Protocol", name, getattr(self, name), minimum)
        if self.width is not None:
            integer("Protocol", "width", self.width, 1)
        Settings.of(monitor=self.monitor)
        names = (*self.methods, *(method.partition(":")[0] for method in self.methods if ":" in method))
        for method, path in _table("presets", self.presets).items():
            one_of("Protocol", "presets", method, tuple(dict.fromkeys(names)))
            if not isinstance(path, str):
                raise InputError("Protocol", f"presets.{method}", "the path of a preset file", path)
        for dataset, changes in self.limits.items():
            one_of("Protocol", "limits", dataset, self.datasets)
            _table(f"limits.{dataset}", changes)
            for name, value in changes.items():
                one_of("Protocol", f"limits.{dataset}", name, LIMITS)
                integer("Protocol", f"limits.{dataset}.{name}", value, 1)

    @property
    def split_names(self) -> tuple[str, ...]:
        return (self.split,) if isinstance(self.split, str) else self.split

    @classmethod
    def from_table(
        cls, number: int, *, methods: Sequence[str] | None = None, datasets: Sequence[str] | None = None, **changes: Any
    ) -> "Protocol":
        """The protocol of one of the paper's tables, or a part of it."""
        if not isinstance(number, int) or number not in TABLE_METHODS:
            raise InputError("Protocol.from_table", "number", "1, 2 or 3", number)
        chosen = tuple(methods) if methods else tuple(m for m in TABLE_METHODS[number] if m.partition(":")[0] in MODELS)
        return cls(chosen, tuple(datasets) if datasets else TABLE_DATASETS[number], **changes)

    @classmethod
    def from_toml(cls, path: Path) -> "Protocol":
        """From a file with the names of this class, or with ``table = 1`` and what differs from it.

        Relative paths in ``presets`` begin at the folder of the file.
        """
        path = Path(path)
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError("Protocol", "path", "a TOML file", got=f"{str(path)!r}, which does not exist") from None
        except OSError as error:
            raise InputError("Protocol", "path", "a TOML file", got=f"{str(path)!r}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError("Protocol", f"{str(path)!r}", "TOML", reason=str(error)) from None
        for name in values:
            one_of("Protocol", "a name in the file", name, ("table", *cls.__dataclass_fields__))
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        if "presets" in values:
            presets = _table("presets", values["presets"])
            values["presets"] = {
                m: str(path.parent / preset) if isinstance(preset, str) else preset for m, preset in presets.items()
            }
        table = values.pop("table", None)
        if table is not None:
            return cls.from_table(table, **values)
        missing = {"methods", "datasets"} - set(values)
        if missing:
            raise InputError(
                "Protocol", f"{str(path)!r}", "methods and datasets (or table)", got=f"no {min(missing)}", verb="have"
            )
        return cls(**values)

    def limits_on(self, dataset: str) -> dict[str, int]:
        """``epochs`` and ``patience`` of all runs on a dataset."""
        return {name: self.limits.get(dataset, {}).get(name, getattr(self, name)) for name in LIMITS}

    def preset(self, method: str, dataset: str) -> Preset:
        """What a method is run with, its variant included."""
        name, _, variant = method.partition(":")
        path = self.presets.get(method) or self.presets.get(name)
        if variant == "unified" and not path:
            preset = load_unified_preset(name, dataset)
        else:
            preset = load_preset(name, dataset, Path(path) if path else None)
        model = {**preset.model, **({"variant": variant} if variant else {})}
        shared = {**self.limits_on(preset.dataset), "monitor": self.monitor}
        return Preset(name, preset.dataset, preset.origin, preset.transform, model, {**preset.settings, **shared})

    def as_json(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Protocol":
        arguments: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        return cls(**arguments)

    @property
    def digest(self) -> str:
        return digest_of(self.as_json())


def _table(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("Protocol", name, "a table of names and values", value)
    return value


def digest_of(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]

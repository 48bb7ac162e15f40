"""Settings that are known to work: shipped with the package for each method and dataset, or found by a search.

A preset file is TOML, one table a dataset, ``[default]`` for all others::

    [cora]
    origin = "ivam-he/ChebNetII: main/full.sh"
    transform = "row-normalize"
    model = { degree = 10, dropout = 0.5 }
    settings = { lr = 0.01, weight_decay = 5e-4, filter_lr = 0.01 }
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError, one_of
from chebnet2d._targets import written_whole
from chebnet2d.data import TRANSFORMS
from chebnet2d.data.catalogue import CATALOGUE, known_name
from chebnet2d.models import MODELS, find_model

NO_TRANSFORM = "none"
DEFAULT = "default"
SEARCHED = "found by search"
"""How the origin of settings begins that a search has found."""
UNIFIED_MLP = {"hidden_channels": 64, "dropout": 0.5}
"""Of the usual two layers."""
_FOR_WORDS = "row-normalize"


@dataclass(frozen=True)
class Preset:
    """How a method is run on a dataset, and where the numbers come from."""

    method: str
    dataset: str
    origin: str
    transform: str = NO_TRANSFORM
    model: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "model": dict(self.model), "settings": dict(self.settings)}


def load_preset(method: str, dataset: str, path: Path | None = None) -> Preset:
    """The preset of a method for a dataset: from a file of the user's, else from the package, else the method's default."""
    find_model(method)
    tables = read_presets(path) if path is not None else shipped_presets(method)
    where = str(path) if path is not None else f"the presets of {method!r}"
    written, tables = tables, {canonical_name(name): table for name, table in tables.items()}
    if len(tables) < len(written):
        raise InputError("load_preset", str(where), "one table a dataset", got=", ".join(written), verb="have")
    dataset = canonical_name(dataset)
    name = dataset if dataset in tables else DEFAULT
    if name not in tables:
        raise InputError(
            "load_preset", str(where), f"a table [{dataset}] or [default]", got=str(", ".join(tables) or "none"), verb="have"
        )
    if not isinstance(tables[name], dict):
        raise InputError(
            "load_preset", f"{name} in {where}", "a table", tables[name], f"Write [{name}], with the settings below it."
        )
    table = dict(tables[name])
    unknown = set(table) - {"origin", "transform", "model", "settings", "method"}
    if unknown:
        raise InputError(
            "load_preset", f"[{name}] in {where}", "origin, transform, model and settings", min(unknown), verb="have"
        )
    if table.pop("method", method) != method:
        raise InputError("load_preset", f"[{name}] in {where}", f"of the method {method!r}")
    table.setdefault("origin", where)
    for key, kind, rule in (("origin", str, "a sentence"), ("model", dict, "a table"), ("settings", dict, "a table")):
        if not isinstance(table.get(key, kind()), kind):
            raise InputError("load_preset", f"{key} of [{name}] in {where}", rule, table[key])
    transform = table.get("transform", NO_TRANSFORM)
    one_of("load_preset", "transform", transform, (NO_TRANSFORM, *TRANSFORMS))
    if name == DEFAULT and path is None and transform == _FOR_WORDS and not _of_words(dataset):
        table["transform"] = NO_TRANSFORM
    return Preset(method=method, dataset=dataset, **table)


def load_unified_preset(method: str, dataset: str) -> Preset:
    """The preset for the unified architecture: learning rates, weight decays and filter of the method's own, and for all methods
    the same features, the same MLP and the same optimiser, which their authors chose differently.
    """
    preset = load_preset(method, dataset)
    own = {name: value for name, value in preset.model.items() if name != "num_layers"}
    model = {**own, **UNIFIED_MLP, "variant": "unified"}
    settings = {name: value for name, value in preset.settings.items() if name != "optimizer"}
    return replace(preset, transform=_FOR_WORDS if _of_words(preset.dataset) else NO_TRANSFORM, model=model, settings=settings)


def canonical_name(dataset: str) -> str:
    """The name that presets, tables and the paper's numbers have it by. What the catalogue does not know stays as it is."""
    return known_name(dataset) or dataset


def _of_words(dataset: str) -> bool:
    return dataset in CATALOGUE and CATALOGUE[dataset].words


def shipped_presets(method: str) -> dict[str, Any]:
    source = files("chebnet2d").joinpath("recipes", "presets", f"{method}.toml")
    return (
        tomllib.loads(source.read_text(encoding="utf-8"))
        if source.is_file()
        else {"default": {"origin": "defaults of the class"}}
    )


def read_presets(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("load_preset", "path", "a preset file", got=f"{str(path)!r}, which does not exist") from None
    except OSError as error:
        raise InputError("load_preset", "path", "a preset file", got=f"{str(path)!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("load_preset", f"{str(path)!r}", "TOML", reason=str(error)) from None


def write_preset(path: Path, preset: Preset, notes: Mapping[str, Any] | None = None) -> None:
    """A preset file with one table; ``notes`` become comments."""
    lines = [f"# {key}: {value}" for key, value in (notes or {}).items()]
    lines += [f"[{_key(preset.dataset)}]", f"method = {_value(preset.method)}", f"origin = {_value(preset.origin)}"]
    lines += [f"transform = {_value(preset.transform)}"]
    lines += [f"model = {_value(dict(preset.model))}", f"settings = {_value(dict(preset.settings))}", ""]
    with written_whole(Path(path)) as temporary:
        temporary.write_text("\n".join(lines), encoding="utf-8")


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None) + " }"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = repr(value)
        return text if any(mark in text for mark in ".en") else text + ".0"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def all_methods() -> tuple[str, ...]:
    return tuple(MODELS)

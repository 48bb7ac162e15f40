"""What a model remembers of the graph that it was trained on, so that other graphs are read and prepared alike.

It belongs to the model: ``read_graph`` and ``fit`` hand it on, ``save`` writes it, and ``predict`` applies it.
"""

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch

from chebnet2d._checks import InputError
from chebnet2d._documents import read_document
from chebnet2d.preparation.drift import drift_lines, reference_of
from chebnet2d.preparation.encoding import Encoding
from chebnet2d.preparation.notes import Notes
from chebnet2d.preparation.raw_columns import RawColumns
from chebnet2d.preparation.saved import MADE_FEATURES, SAVED
from chebnet2d.preparation.transforms import apply_transform, scale_of

_FILE = "preparation.json"


@dataclass(frozen=True, repr=False)
class Preparation:
    """Fitted on one graph, applied to every graph that the model sees.

    Args:
        transform: "none" or a name in ``TRANSFORMS``; it comes after the encoding.
        scale: mean and deviation of each feature, for "standardize".
        feature_names: the features in the order that the model knows; None where they have no names.
        class_names: the word for each class.
        read_options: arguments of ``read_graph`` that hold for other graphs of the kind.
        encoding: how raw columns become features; None where features are taken as they are.
        reference: facts of the training graph that later ones are compared with.
    """

    transform: str = "none"
    scale: Mapping[str, Any] | None = None
    feature_names: Sequence[str] | None = None
    class_names: Sequence[str] | None = None
    read_options: Mapping[str, Any] = field(default_factory=dict)
    encoding: Encoding | None = None
    reference: Mapping[str, Any] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        columns = "" if self.encoding is None else f", {len(self.encoding.columns)} columns"
        return f"{self.transform!r}{columns}"

    @classmethod
    def fit(cls, data: Any, transform: str = "none", reading: Mapping[str, Any] | None = None) -> "Preparation":
        """``data``: a graph as it was read, whose columns are encoded already where it was read so."""
        known = data.get("preparation") or cls()
        scale = None if transform != "standardize" else {part: values.tolist() for part, values in scale_of(data).items()}
        names = data.get("feature_names")
        features = None if names is None else [str(name) for name in names]
        read_options = dict(known.read_options) if reading is None else reading_of(reading)
        return cls(transform, scale, features, class_names_of(data), read_options, known.encoding, known.reference)

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Preparation":
        """From the facts that were saved with a model; others among them do not matter."""
        values = {part.name: facts[part.name] for part in fields(cls) if part.name in facts}
        for name, value in values.items():
            if name in SAVED:
                SAVED[name]("load", f"{name} in the facts of the model", value)
        if values.get("encoding") is not None:
            values["encoding"] = Encoding.from_json(values["encoding"])
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        encoding = None if self.encoding is None else self.encoding.to_json()
        return {**asdict(replace(self, encoding=None)), "encoding": encoding}

    @classmethod
    def read(cls, folder: Path) -> "Preparation":
        """What lies beside bases as ``as_file`` says; of other bases nothing is known."""
        path = folder / _FILE
        if not path.is_file():
            return cls()
        facts = read_document("bases", path)
        if not isinstance(facts, dict):
            raise InputError("bases", f"{str(path)!r}", "a table of names and values", facts)
        return cls.from_json(facts)

    def as_file(self) -> dict[str, str]:
        """The text of the file that lies beside bases, by its name."""
        return {_FILE: json.dumps(self.to_json(), indent=2)}

    # ---- applying -----------------------------------------------------------------------------------------
    def apply(self, data: Any) -> Any:
        """The graph as the model takes it: its features encoded, in order, and transformed as those that it learned from."""
        return self.applied(data)[0]

    def applied(self, data: Any) -> tuple[Any, Notes]:
        """The prepared graph, and what differed from the graph that this was fitted on. A prepared graph stays as it is."""
        known = data.get("preparation")
        if known is self or known == self or self == Preparation():
            return data, Notes()
        if known is not None and self.encoding is not None and known.encoding == self.encoding and known.transform == "none":
            encoded, notes = data, Notes()
        elif self.encoding is not None:
            encoded, notes = self._encoded(data)
        else:
            encoded, notes = self._in_order(data), Notes()
        prepared = apply_transform(encoded, self.transform, self.scale)
        prepared = copy.copy(data) if prepared is data else prepared
        prepared.preparation = self
        other = known is None or known.reference is not self.reference
        if other and self.reference is not None and self.encoding is not None:
            notes = replace(notes, drift=drift_lines(encoded, self.encoding, self.reference))
        return prepared, notes

    def check_transform(self, owner: str, transform: str) -> None:
        """Raise unless the features are prepared in the way that a recipe asks for."""
        if transform != self.transform:
            hint = f"Compute the bases with the transform {transform!r}."
            raise InputError(owner, "the features", f"prepared by {transform!r}, as the preset says", self.transform, hint)

    def _encoded(self, data: Any) -> tuple[Any, Notes]:
        raw = raw_features(data)
        assert self.encoding is not None
        prepared = copy.copy(data)
        prepared.x, encoded = self.encoding.apply(raw)
        if self.encoding.features:
            prepared.feature_names = self.encoding.features
        return prepared, Notes.of(self.encoding, encoded, [] if torch.is_tensor(raw) else raw.column_names)

    def _in_order(self, data: Any) -> Any:
        """Columns are matched where both sides have names; a missing one is an error."""
        own, names = data.get("feature_names"), self.feature_names
        if names is None or own is None or list(own) == list(names):
            return data
        missing = [name for name in names if name not in own]
        extra = [name for name in own if name not in names]
        if missing or extra:
            got = f"no {missing[0]!r}" if missing else f"{extra[0]!r} besides"
            raise InputError("predict", "the features", f"the {len(names)} columns that the model was trained on", got=got)
        order = torch.tensor([list(own).index(name) for name in names])
        data = data.clone()
        data.x = (data.x if data.x.layout == torch.strided else data.x.to_dense()).index_select(1, order)
        data.feature_names = list(names)
        return data


def fit_encoding(data: Any, mode: str, read_options: Mapping[str, Any]) -> Any:
    """A graph with raw columns (``columns``) or a raw matrix (``raw_x``) gets its x, and a ``preparation`` that says how."""
    encoding = Encoding.fit(raw_features(data), mode)
    prepared, _ = Preparation(read_options=reading_of(read_options), encoding=encoding).applied(data)
    prepared.preparation = replace(
        prepared.preparation,
        feature_names=encoding.features or None,
        class_names=class_names_of(data),
        reference=reference_of(prepared),
    )
    return prepared


def raw_features(data: Any) -> Any:
    """The features before any preparation: an Arrow table or a matrix."""
    for name in ("columns", "raw_x", "x"):
        found = data.get(name)
        if found is not None:
            return found.table if isinstance(found, RawColumns) else found
    raise InputError("predict", "the graph", "features", got="none", verb="have")


def class_names_of(data: Any) -> list[str]:
    if data.get("class_names"):
        return [str(name) for name in data.class_names]
    labelled = data.get("y") is not None and bool((data.y >= 0).any())
    stored = data.get("num_classes")
    return [str(c) for c in range(int(data.y.max()) + 1 if stored is None else int(stored))] if labelled else []


def reading_of(reading: Mapping[str, Any]) -> dict[str, Any]:
    """How files were read, without which ones: it holds for other graphs of the kind too."""
    made = isinstance(reading.get("features"), str) and reading["features"] in MADE_FEATURES
    return {name: value for name, value in reading.items() if name not in ("edges", "labels") and (name != "features" or made)}

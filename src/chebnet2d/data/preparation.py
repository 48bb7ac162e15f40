"""What a model remembers of the graph that it was trained on, so that other graphs are read and prepared alike."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch

from chebnet2d._checks import InputError
from chebnet2d._targets import written_whole
from chebnet2d.data.any_graph import reading_of
from chebnet2d.data.dataset import num_classes
from chebnet2d.data.transforms import apply_transform, scale_of

_FILE = "preparation.json"


@dataclass(frozen=True)
class Preparation:
    """Fitted on one graph, applied to every graph that the model sees.

    Args:
        transform: "none" or a name in ``TRANSFORMS``.
        scale: mean and deviation of each feature, for "standardize".
        feature_names: the features in the order that the model knows; None where they have no names.
        class_names: the word for each class.
        read_options: arguments of ``read_graph`` that hold for other graphs of the kind.
    """

    transform: str = "none"
    scale: Mapping[str, Any] | None = None
    feature_names: Sequence[str] | None = None
    class_names: Sequence[str] | None = None
    read_options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def fit(cls, data: Any, transform: str = "none", reading: Mapping[str, Any] | None = None) -> "Preparation":
        scale = None if transform != "standardize" else {part: values.tolist() for part, values in scale_of(data).items()}
        names = data.get("feature_names")
        labelled = data.get("y") is not None and bool((data.y >= 0).any())
        classes = data.get("class_names") or (range(num_classes(data)) if labelled else ())
        features = None if names is None else [str(name) for name in names]
        return cls(transform, scale, features, [str(name) for name in classes], reading_of(reading or {}))

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Preparation":
        """From the facts that were saved with a model; others among them do not matter."""
        return cls(**{part.name: facts[part.name] for part in fields(cls) if part.name in facts})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(cls, folder: Path) -> "Preparation":
        """What ``write`` has put beside bases; of other bases nothing is known."""
        path = folder / _FILE
        return cls.from_json(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else cls()

    def write(self, folder: Path) -> None:
        with written_whole(folder / _FILE) as temporary:
            temporary.write_text(json.dumps(self.to_json(), indent=2), encoding="utf-8")

    def apply(self, data: Any) -> Any:
        """The graph as the model takes it: its features in order, and transformed as those that it learned from."""
        return apply_transform(self._in_order(data), self.transform, self.scale)

    def check_transform(self, owner: str, transform: str) -> None:
        """Raise unless the features are prepared in the way that a recipe asks for."""
        if transform != self.transform:
            hint = f"Compute the bases with the transform {transform!r}."
            raise InputError(owner, "the features", f"prepared by {transform!r}, as the preset says", self.transform, hint)

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

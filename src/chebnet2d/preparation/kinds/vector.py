"""A vector for each node, as embeddings are stored: every entry scaled; an entry or a vector that is missing is the mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chebnet2d._checks import InputError
from chebnet2d.preparation.kinds.kind import KINDS, ColumnKind, Encoded, with_indicator
from chebnet2d.preparation.scaling import FARTHEST


@KINDS.register("vector")
@dataclass(frozen=True)
class Vector(ColumnKind):
    kind = "vector"
    centre: Sequence[float]
    spread: Sequence[float]
    gaps: bool

    def __post_init__(self) -> None:
        if len(self.centre) != len(self.spread):
            raise InputError(
                "Preparation", "centre and spread", "of one length", got=f"{len(self.centre)} and {len(self.spread)}"
            )

    @classmethod
    def fit(cls, name: str, array: Any) -> "Vector":
        values = vectors_of(array)
        present = ~np.isnan(values)
        counts = np.maximum(present.sum(axis=0), 1)
        centre = np.where(present, values, 0).sum(axis=0) / counts
        spread = np.sqrt((np.where(present, values - centre, 0) ** 2).sum(axis=0) / counts)
        spread[spread <= 1e-12 * np.abs(centre)] = 0
        return cls(name, centre.tolist(), spread.tolist(), bool((~present).any()))

    @property
    def features(self) -> list[str]:
        return [f"{self.name}[{k}]" for k in range(len(self.centre))] + [f"{self.name} is missing"] * self.gaps

    def encode(self, array: Any) -> Encoded:
        width = len(self.centre)
        if not is_vectors(array):
            empty = with_indicator(np.zeros((len(array), width)), np.ones(len(array)), self.gaps)
            return Encoded(empty, array.null_count, len(array) - array.null_count)
        values = vectors_of(array)
        if values.shape[1] != width:
            raise InputError(
                "predict", f"column {self.name!r}", f"vectors of {width} numbers", got=str(values.shape[1]), verb="hold"
            )
        gap = np.isnan(values)
        spread = np.asarray(self.spread)
        scaled = np.where(gap | (spread == 0), 0, (values - self.centre) / np.where(spread == 0, 1, spread))
        gaps = gap.any(axis=1)
        return Encoded(with_indicator(np.clip(scaled, -FARTHEST, FARTHEST), gaps, self.gaps), int(gaps.sum()))

    @property
    def became(self) -> str:
        return f"vector of {len(self.centre)} scaled numbers" + (", and 1 where it is missing" if self.gaps else "")


def is_vectors(array: Any) -> bool:
    return bool(pa.types.is_fixed_size_list(array.type) or pa.types.is_list(array.type) or pa.types.is_large_list(array.type))


def vectors_of(array: Any) -> Any:
    """N x W float64 of lists of equal length (checked where they were read), NaN for what is missing."""
    lengths = np.asarray(pc.list_value_length(array).fill_null(-1))
    present = lengths >= 0
    values = np.full((len(array), int(lengths.max(initial=0))), np.nan)
    flat = pc.list_flatten(array).cast(pa.float64(), safe=False).fill_null(float("nan"))
    values[present] = np.asarray(flat).reshape(int(present.sum()), -1)
    return values

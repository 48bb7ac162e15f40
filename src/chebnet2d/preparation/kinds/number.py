"""A number: scaled; a gap takes the median, and one more feature says that it was one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chebnet2d._checks import InputError, one_of
from chebnet2d.preparation.arrays import as_numbers
from chebnet2d.preparation.kinds.kind import KINDS, ColumnKind, Encoded, with_indicator
from chebnet2d.preparation.scaling import SCALINGS, Scaling, choose_scaling, fit_scaling


@KINDS.register("number")
@dataclass(frozen=True)
class Number(ColumnKind):
    """``gaps``: whether the training graph had some, and x has a column for them."""

    kind = "number"
    scaling: str
    centre: float
    spread: float
    unit: float
    quantiles: Sequence[float]
    median: float
    gaps: bool

    def __post_init__(self) -> None:
        one_of("Preparation", "scaling", self.scaling, SCALINGS)
        if self.scaling == "quantile" and len(self.quantiles) < 2:
            raise InputError("Preparation", "quantiles", "two numbers at least", self.quantiles)

    @classmethod
    def fit(cls, name: str, values: Any, scaling: str | None) -> "Number":
        """``values``: float64 with NaN for gaps. ``scaling``: None lets the skewness choose."""
        present = values[~np.isnan(values)]
        found = choose_scaling(present) if scaling is None else fit_scaling(present, scaling)
        numbers = (found.scaling, found.centre, found.spread, found.unit, found.quantiles)
        return cls(name, *numbers, median=float(np.median(present)), gaps=len(present) < len(values))

    @property
    def features(self) -> list[str]:
        return [self.name] * (self.spread > 0) + [f"{self.name} is missing"] * self.gaps

    def encode(self, array: Any) -> Encoded:
        values, unread = as_numbers(array)
        gap = np.isnan(values)
        scale = Scaling(self.scaling, self.centre, self.spread, self.unit, self.quantiles)
        scaled = scale.apply(np.where(gap, self.median, values))
        kept = scaled[:, None] if self.spread > 0 else np.zeros((len(scaled), 0))
        return Encoded(with_indicator(kept, gap, self.gaps), int(gap.sum()) - unread, unread)

    @property
    def became(self) -> str:
        if self.spread == 0:
            return "constant but for gaps: 1 where it is missing"
        how = {"standard": "scaled", "signed-log": "signed logarithm, scaled", "quantile": "ranks as normal scores"}[self.scaling]
        return f"number, {how}" + (", and 1 where it is missing" if self.gaps else "")

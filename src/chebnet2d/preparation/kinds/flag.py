"""Yes or no: 1 and 0 as they are, which keeps columns of words in a text sparse. A gap is the share of ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from chebnet2d.preparation.arrays import as_numbers
from chebnet2d.preparation.kinds.kind import KINDS, ColumnKind, Encoded, with_indicator


@KINDS.register("flag")
@dataclass(frozen=True)
class Flag(ColumnKind):
    kind = "flag"
    mean: float
    gaps: bool

    @classmethod
    def fit(cls, name: str, values: Any) -> "Flag":
        gap = np.isnan(values)
        return cls(name, float(values[~gap].mean()), bool(gap.any()))

    @property
    def features(self) -> list[str]:
        return [self.name] + [f"{self.name} is missing"] * self.gaps

    def encode(self, array: Any) -> Encoded:
        values, unread = as_numbers(array)
        gap = np.isnan(values)
        filled = np.where(gap, self.mean, np.clip(values, 0, 1))
        return Encoded(with_indicator(filled, gap, self.gaps), int(gap.sum()) - unread, unread)

    @property
    def became(self) -> str:
        return "1 and 0" + (", and 1 where it is missing" if self.gaps else "")

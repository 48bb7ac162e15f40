"""One of many columns that are mostly zero, as counts of words are: left as it is. Scaling would make x dense."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from chebnet2d.preparation.arrays import as_numbers
from chebnet2d.preparation.kinds.kind import KINDS, ColumnKind, Encoded

_LARGEST = 1e30  # what float32 holds with room for a sum


@KINDS.register("count")
@dataclass(frozen=True)
class Count(ColumnKind):
    kind = "count"

    @property
    def features(self) -> list[str]:
        return [self.name]

    def encode(self, array: Any) -> Encoded:
        values, unread = as_numbers(array)
        gap = np.isnan(values)
        counts = np.clip(np.where(gap, 0.0, values), -_LARGEST, _LARGEST)[:, None]
        return Encoded(counts.astype(np.float32), int(gap.sum()) - unread, unread)

    @property
    def became(self) -> str:
        return "as it is (one of many columns that are mostly zero)"

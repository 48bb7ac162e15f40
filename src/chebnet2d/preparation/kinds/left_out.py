"""A column that x does without, and why."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from chebnet2d.preparation.kinds.kind import KINDS, ColumnKind, Encoded


@KINDS.register("left out")
@dataclass(frozen=True)
class LeftOut(ColumnKind):
    kind = "left out"
    reason: str

    @property
    def features(self) -> list[str]:
        return []

    def encode(self, array: Any) -> Encoded:
        return Encoded(np.zeros((len(array), 0), dtype=np.float32))

    @property
    def became(self) -> str:
        return f"left out: {self.reason}"

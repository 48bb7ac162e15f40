"""A date, a moment or a time of the day: as a scaled number, and the parts that come back as points on a circle."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chebnet2d._checks import one_of
from chebnet2d.preparation.arrays import as_seconds
from chebnet2d.preparation.kinds.kind import KINDS, ColumnKind, Encoded, with_indicator
from chebnet2d.preparation.scaling import FARTHEST

_DAY = 86400.0
_CYCLES = {"time of the day": _DAY, "day of the week": 7 * _DAY, "day of the year": 365.2425 * _DAY}


@KINDS.register("moment")
@dataclass(frozen=True)
class Moment(ColumnKind):
    """``layout``: how words spell it; "" where the column has a type of its own. ``cycles``: those that it goes through."""

    kind = "moment"
    layout: str
    centre: float
    spread: float
    cycles: Sequence[str]
    gaps: bool

    def __post_init__(self) -> None:
        for cycle in self.cycles:
            one_of("Preparation", "a cycle", cycle, _CYCLES)

    @classmethod
    def fit(cls, name: str, array: Any, layout: str) -> "Moment":
        seconds, _ = as_seconds(array, layout or None)
        present = seconds[~np.isnan(seconds)]
        span = float(np.ptp(present))
        cycles = [cycle for cycle, period in _CYCLES.items() if span > period / 2 and np.ptp(np.mod(present, period)) > 0]
        if "time of the day" in cycles and bool((np.mod(present, _DAY) == 0).all()):
            cycles.remove("time of the day")
        return cls(name, layout, float(present.mean()), float(present.std()), cycles, len(present) < len(seconds))

    @property
    def features(self) -> list[str]:
        parts = [f"{self.name}, {cycle}, {part}" for cycle in self.cycles for part in ("sine", "cosine")]
        return [self.name, *parts] + [f"{self.name} is missing"] * self.gaps

    def encode(self, array: Any) -> Encoded:
        seconds, unread = as_seconds(array, self.layout or None)
        gap = np.isnan(seconds)
        filled = np.where(gap, self.centre, seconds)
        columns = [np.clip((filled - self.centre) / (self.spread or 1.0), -FARTHEST, FARTHEST)]
        for cycle in self.cycles:
            angle = 2 * np.pi * np.mod(filled, _CYCLES[cycle]) / _CYCLES[cycle]
            columns += [np.where(gap, 0.0, turn(angle)) for turn in (np.sin, np.cos)]
        return Encoded(with_indicator(np.column_stack(columns), gap, self.gaps), int(gap.sum()) - unread, unread)

    @property
    def became(self) -> str:
        parts = "".join(f", {cycle}" for cycle in self.cycles)
        return f"moment as a scaled number{parts}" + (", and 1 where it is missing" if self.gaps else "")

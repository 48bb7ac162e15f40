"""What ``fit_many`` asks of those who let runs leave before they are done (``chebnet2d.search.Halving``)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Standing:
    """How a run stands: its best validation metric so far, the loss of that epoch, and whether it is still in training."""

    metric: float
    loss: float
    running: bool


class Pruner(Protocol):
    """At every rung, an epoch, all runs wait for each other, and some leave. After ``seconds`` all leave as they are."""

    @property
    def rungs(self) -> Sequence[int]:
        """Increasing epochs."""
        ...

    @property
    def seconds(self) -> float | None: ...

    def leaving(self, standings: Sequence[Standing]) -> Collection[int]:
        """Positions of the runs that leave."""
        ...

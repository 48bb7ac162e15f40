"""A run and what comes out of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor, nn

from chebnet2d.training.settings import Settings


class SplitLike(Protocol):
    """Three sets of node indices with a name and a seed (``chebnet2d.data.Split``)."""

    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def train(self) -> Tensor: ...
    @property
    def val(self) -> Tensor: ...
    @property
    def test(self) -> Tensor: ...


@dataclass(frozen=True)
class Run:
    """One training: a model, a split, a seed (initial parameters and dropout) and settings."""

    model: nn.Module
    split: SplitLike
    seed: int = 0
    settings: Settings = field(default_factory=Settings)


@dataclass
class History:
    """One number per epoch; of the validation nodes, per epoch at which they were looked at."""

    train_loss: list[float] = field(default_factory=list)
    val_loss: list[float] = field(default_factory=list)
    val_metric: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    """What a run reached at its best epoch, judged on the validation nodes alone. The model holds that state.

    ``val_metric`` is the dataset's own metric (``metric``: its name). ``test`` has every metric that is defined for the number of
    classes, read once, from the best state; it is empty where the test nodes were not looked at, or there are none.
    """

    model: nn.Module
    split: SplitLike
    seed: int
    settings: Settings
    metric: str
    best_epoch: int
    epochs: int
    val_loss: float
    val_metric: float
    test: Mapping[str, float]
    seconds: float
    history: History
    pruned: bool = False
    """The run left before it was done: at a rung, or because the time was up."""

    @property
    def test_metric(self) -> float | None:
        """The dataset's own metric on the test nodes."""
        return self.test.get(self.metric)

    @property
    def parameters(self) -> int:
        """How many numbers are learned."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def to_record(self) -> dict[str, Any]:
        """The facts, ready for JSON: a number that is not one is None."""
        split = {"name": self.split.name, "seed": self.split.seed, "digest": getattr(self.split, "digest", None)}
        return {
            "metric": self.metric,
            "test": {name: _finite(value) for name, value in self.test.items()},
            "val_metric": _finite(self.val_metric),
            "val_loss": _finite(self.val_loss),
            "best_epoch": self.best_epoch,
            "epochs": self.epochs,
            "seconds": round(self.seconds, 3),
            "parameters": self.parameters,
            "pruned": self.pruned,
            "seed": self.seed,
            "split": split,
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class EpochProgress:
    """After every epoch: how many runs are still in the stack, and the best validation metric so far."""

    epoch: int
    epochs: int
    active: int
    runs: int
    best_val_metric: float

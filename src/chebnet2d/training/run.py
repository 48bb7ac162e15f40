"""A run and what comes out of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError
from chebnet2d._json import finite
from chebnet2d.data.splits import PARTS, Split
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


def as_split(split: Any) -> SplitLike:
    """A split as it is; or one from a mapping or a tuple of train, val and perhaps test: indices or masks of nodes."""
    if all(hasattr(split, part) for part in PARTS):
        return split
    if isinstance(split, tuple | list) and len(split) in (2, 3):
        split = dict(zip(PARTS, split, strict=False))
    if not isinstance(split, Mapping) or not {"train", "val"} <= split.keys() <= set(PARTS):
        raise InputError("fit", "split", "a Split, or train, val and test as a mapping or a tuple", split)
    return Split("given", None, *(_indices(part, split.get(part, ())) for part in PARTS))


def _indices(part: str, nodes: Any) -> Tensor:
    array = nodes.detach().cpu().numpy() if isinstance(nodes, Tensor) else np.asarray(nodes)
    if array.dtype == bool:
        array = np.flatnonzero(array) if array.ndim == 1 else array
    elif array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError("fit", f"split.{part}", "indices or a mask of nodes", nodes)
    found = torch.from_numpy(array.astype(np.int64))
    if found.unique().numel() < found.numel():
        raise InputError("fit", f"split.{part}", "distinct nodes", got="one of them twice", verb="hold")
    return found


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
    def diverged(self) -> int | None:
        """The epoch from which on, up to the end, the loss on the training nodes was no finite number; None if it was one."""
        losses = self.history.train_loss
        bad = next((back for back, loss in enumerate(reversed(losses)) if math.isfinite(loss)), len(losses))
        return len(losses) - bad + 1 if bad else None

    @property
    def parameters(self) -> int:
        """How many numbers are learned."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def to_record(self) -> dict[str, Any]:
        """The facts, ready for JSON: a number that is not one is None."""
        split = {"name": self.split.name, "seed": self.split.seed, "digest": getattr(self.split, "digest", None)}
        record = {
            "metric": self.metric,
            "test": dict(self.test),
            "val_metric": self.val_metric,
            "val_loss": self.val_loss,
            "best_epoch": self.best_epoch,
            "epochs": self.epochs,
            "seconds": round(self.seconds, 3),
            "parameters": self.parameters,
            "pruned": self.pruned,
            "diverged": self.diverged,
            "seed": self.seed,
            "split": split,
        }
        facts: dict[str, Any] = finite(record)
        return facts


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of ``fit``. The model holds the best state so far, and ``result`` says what that reached.

    The test nodes have not been looked at. Before the first look at the validation nodes there is no best state, and a plain
    KeyboardInterrupt is raised.
    """

    def __init__(self, result: Result) -> None:
        super().__init__()
        self.result = result


@dataclass(frozen=True)
class EpochProgress:
    """After every epoch: how many runs are still in the stack, and the best validation metric so far."""

    epoch: int
    epochs: int
    active: int
    runs: int
    best_val_metric: float
    resumed: int = 0
    """Epochs of an earlier process, from whose checkpoint this one went on."""

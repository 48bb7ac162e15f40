"""A source of batches: data that is checked once for all runs and makes a task and a learner per stack of them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._registry import Registry
from chebnet2d.training.batches import Batches
from chebnet2d.training.learners import StackLearner
from chebnet2d.training.loop import Learner, Task
from chebnet2d.training.run import Run

S = TypeVar("S", bound="type[Source]")


class Source(ABC):
    """The constructor takes (data, batches, runs, device) and checks them."""

    metric: str
    """By which epochs are compared."""
    y: Tensor
    identity: str | None = None
    """Tells the data and its batches from others; None: a training on it leaves no checkpoints."""
    large: bool = True
    """Whether one stack has work enough for all cores."""
    priority: ClassVar[int] = 0
    """Of several sources that accept the data, the one with the largest is taken."""
    trains: ClassVar[str] = "gradient"
    """Which methods it is for, by their ``trained_by``."""

    @abstractmethod
    def __init__(self, data: Any, batches: Batches | None, runs: Sequence[Run], device: torch.device) -> None: ...

    @staticmethod
    @abstractmethod
    def accepts(data: Any, batches: Batches | None) -> bool:
        """Whether this is the source for what the caller of ``fit`` gave."""

    @abstractmethod
    def width(self, run: Run, asked: int | None) -> int:
        """How many runs like this one share a stack at most."""

    @abstractmethod
    def task(self, runs: Sequence[Run]) -> Task: ...

    def learner(self, runs: Sequence[Run]) -> Learner:
        return StackLearner(runs)


SOURCES: Registry[type[Source]] = Registry("source of batches")


def register_source(kind: S) -> S:
    """``@register_source`` above a class makes it known to ``fit``."""
    SOURCES.add(kind.__name__, kind)
    return kind


def source_of(data: Any, batches: Batches | None, runs: Sequence[Run], device: torch.device) -> Source:
    ways = {str(getattr(run.model, "trained_by", "gradient")) for run in runs}
    if len(ways) > 1:
        raise InputError("fit_many", "runs", "of methods that are trained in one way", got=" and ".join(sorted(ways)))
    kinds = [kind for kind in SOURCES.values() if kind.trains in ways and kind.accepts(data, batches)]
    if not kinds:
        got = f"{type(runs[0].model).__name__}, which is fitted on a whole graph"
        raise InputError("fit", "the model", "trained on such data", got=got)
    return max(kinds, key=lambda kind: kind.priority)(data, batches, runs, device)

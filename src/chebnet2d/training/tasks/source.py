"""A source of batches: data that is checked once for all runs and makes a task and a learner per stack of them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import torch

from chebnet2d._registry import Registry
from chebnet2d.training.batches import Batches
from chebnet2d.training.learners import StackLearner
from chebnet2d.training.loop import Learner, Task
from chebnet2d.training.run import Run

S = TypeVar("S", bound="type[Source]")


class Source(ABC):
    """The constructor takes (data, batches, runs, device) and checks them."""

    large: bool = True
    """Whether one stack has work enough for all cores."""
    priority: ClassVar[int] = 0
    """Of several sources that accept the data, the one with the largest is taken."""

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
    kinds = [kind for kind in SOURCES.values() if kind.accepts(data, batches)]
    return max(kinds, key=lambda kind: kind.priority)(data, batches, runs, device)

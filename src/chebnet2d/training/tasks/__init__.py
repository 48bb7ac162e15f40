"""Where batches come from: a full graph, mini batches of its nodes, or bases on disk.

A source is checked once for all runs and makes a task per stack of them.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import torch

from chebnet2d.bases import Bases
from chebnet2d.training.batches import Batches
from chebnet2d.training.loop import Task
from chebnet2d.training.run import Run
from chebnet2d.training.tasks.bases import BasesSource
from chebnet2d.training.tasks.full_graph import FullGraphSource
from chebnet2d.training.tasks.node_batches import NodeSource

__all__ = ["BasesSource", "FullGraphSource", "NodeSource", "Source", "source_of"]


class Source(Protocol):
    """Checked data."""

    @property
    def large(self) -> bool:
        """Whether one stack has work enough for all cores."""
        ...

    def width(self, run: Run, asked: int | None) -> int:
        """How many runs like this one share a stack at most."""
        ...

    def task(self, runs: Sequence[Run]) -> Task: ...


def source_of(data: Any, batches: Batches | None, runs: Sequence[Run], device: torch.device) -> Source:
    if isinstance(data, Bases):
        return BasesSource(data, batches or Batches(), runs, device)
    if batches is None:
        return FullGraphSource(data, runs, device)
    return NodeSource(data, batches, runs, device)

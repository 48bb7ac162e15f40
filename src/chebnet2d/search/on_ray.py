"""A search on a Ray cluster: batches of trials are the tasks."""

import math
import time
from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

from chebnet2d.cluster import RayExecutor

GRACE = 30.0
"""Seconds that a batch of a search has to come back when its time is up; one that waits for a CPU for longer is given up."""

Batch = TypeVar("Batch", bound=Hashable)


def train_on_ray(
    train: Callable[..., Any], batches: Iterator[tuple[Batch, tuple[Any, ...]]], address: str, seconds: float
) -> Iterator[tuple[Batch, Any]]:
    """(batch, ``train(*arguments)``) in the order they end; ``batches`` is asked for one whenever a CPU of the cluster is free.

    The last of the arguments is the time that the training may take. ``seconds``: left for all.
    """
    tasks = ((batch, (*arguments, time.time())) for batch, arguments in batches)
    limit = None if math.isinf(seconds) else max(seconds, 0.0) + GRACE
    return RayExecutor(address).run(_train, tasks, shared=train, seconds=limit)


def _train(train: Callable[..., Any], *arguments: Any) -> Any:
    """Time that a batch had to wait, or that a node took along when it died, is gone. By the clocks of two machines, alas."""
    *others, seconds, sent = arguments
    return train(*others, seconds - max(time.time() - sent, 0.0))

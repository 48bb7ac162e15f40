"""Splits as pure functions of (labels, protocol, seed). Nodes without a label (-1) are in no part."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import integer, one_of
from chebnet2d.data.split import Split

PROTOCOLS = ("uniform", "uniform-50")


def split(data: Any, protocol: str = "uniform", seed: int = 0) -> Split:
    """The split of a ``Data`` (or of N labels) by a protocol.

    >>> print(split([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, -1], "uniform", seed=0))
    uniform, seed 0, 6/2/2 nodes, digest 2da3a0e3a35d37d3
    """
    one_of("split", "protocol", protocol, PROTOCOLS)
    labels = labels_of(data)
    ratios = {"uniform": (0.6, 0.2), "uniform-50": (0.5, 0.25)}[protocol]
    return uniform(labels, seed, *ratios)


def uniform(labels: Any, seed: int = 0, train: float = 0.6, val: float = 0.2, *, name: str = "uniform") -> Split:
    """A random permutation, cut: the first int(train N) nodes to train, the next int(val N) to validation, the rest to test."""
    integer("split", "seed", seed, 0, 2**32 - 1)
    known = np.flatnonzero(np.asarray(labels) >= 0)
    order = np.random.RandomState(seed).permutation(known)
    first = int(train * known.size)
    second = first + int(val * known.size)
    return Split(name, seed, *(torch.from_numpy(np.sort(part)) for part in np.split(order, [first, second])))


def labels_of(data: Any) -> Any:
    y = getattr(data, "y", data)
    return (y.numpy() if isinstance(y, Tensor) else np.asarray(y)).astype(np.int64)

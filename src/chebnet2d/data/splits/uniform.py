"""A random permutation of the labelled nodes, cut in three."""

from typing import Any

import numpy as np

from chebnet2d.data.splits.kinds import checked_shares, labelled_nodes, make_split, split_kind
from chebnet2d.data.splits.parts import Split


@split_kind("uniform")
def uniform(data: Any, seed: int, *, train: float = 0.6, val: float = 0.2) -> Split:
    """A permutation of the labelled nodes, cut: int(train N) to train, int(val N) to validation, the rest to test."""
    known, _ = labelled_nodes(data)
    train, val = checked_shares(train, val)
    order = known[np.random.RandomState(seed).permutation(known.size)]
    first = int(train * known.size)
    name = {(0.6, 0.2): "uniform", (0.5, 0.25): "uniform-50"}.get((train, val), f"uniform(train={train:g}, val={val:g})")
    return make_split(name, seed, *np.split(order, [first, first + int(val * known.size)]))


@split_kind("uniform-50")
def uniform_50(data: Any, seed: int) -> Split:
    """50/25/25, the parts of LINKX and of Platonov et al."""
    return uniform(data, seed, train=0.5, val=0.25)

"""The same number of nodes of every class to train, as a share of all.

"60/20/20" means two things in the literature: this, and ``uniform``. Here a class that is smaller than the common number is in
train as a whole and never tested, so that the two give different results.
"""

from typing import Any

import numpy as np
import torch

from chebnet2d.data.splits.kinds import checked_shares, class_count, labelled_nodes, make_split, named_by_shares, split_kind
from chebnet2d.data.splits.parts import Split


@split_kind("balanced")
def balanced(data: Any, seed: int, *, train: float = 0.6, val: float = 0.2) -> Split:
    """BernNet's and ChebNetII's form: one numpy stream; a class that is too small is taken whole, without a draw."""
    known, y = labelled_nodes(data)
    train, val = checked_shares(train, val)
    classes = class_count(data, y)
    wanted = round(train * known.size / classes)
    rng = np.random.RandomState(seed)
    chosen = []
    for c in range(classes):
        members = known[y == c]
        chosen.append(members if members.size < wanted else rng.choice(members, wanted, replace=False))
    taken = np.concatenate(chosen)
    rest = np.setdiff1d(known, taken)
    validation = rng.choice(rest, min(round(val * known.size), rest.size), replace=False) if rest.size else rest
    return make_split(named_by_shares("balanced", train, val), seed, taken, validation, np.setdiff1d(rest, validation))


@split_kind("balanced-torch")
def balanced_torch(data: Any, seed: int, *, train: float = 0.6, val: float = 0.2) -> Split:
    """GPRGNN's and JacobiConv's form: torch's permutations, one for each class however small, one for what remains."""
    known, y = labelled_nodes(data)
    train, val = checked_shares(train, val)
    classes = class_count(data, y)
    wanted = round(train * known.size / classes)
    generator = torch.Generator().manual_seed(seed)
    chosen, remaining = [], []
    for c in range(classes):
        members = known[y == c]
        shuffled = members[torch.randperm(members.size, generator=generator).numpy()]
        chosen.append(shuffled[:wanted])
        remaining.append(shuffled[wanted:])
    rest = np.concatenate(remaining)
    rest = rest[torch.randperm(rest.size, generator=generator).numpy()]
    count = round(val * known.size)
    return make_split(named_by_shares("balanced-torch", train, val), seed, np.concatenate(chosen), rest[:count], rest[count:])

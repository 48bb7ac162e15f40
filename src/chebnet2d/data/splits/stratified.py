"""The same shares of every class in each part."""

from typing import Any

import numpy as np

from chebnet2d.data.splits.kinds import checked_shares, labelled_nodes, make_split, named_by_shares, split_kind
from chebnet2d.data.splits.parts import Split


@split_kind("stratified")
def stratified(data: Any, seed: int, *, train: float = 0.6, val: float = 0.2) -> Split:
    """Every class is cut by the shares, rounded so that each part has a node of it; a class of two or one is trained on."""
    known, y = labelled_nodes(data)
    train, val = checked_shares(train, val)
    rng = np.random.RandomState(seed)
    parts: list[list[Any]] = [[], [], []]
    for c in np.unique(y):
        members = rng.permutation(known[y == c])
        for part, nodes in zip(parts, np.split(members, _cuts(members.size, train, val)), strict=True):
            part.append(nodes)
    return make_split(named_by_shares("stratified", train, val), seed, *(np.concatenate(part) for part in parts))


def _cuts(size: int, train: float, val: float) -> list[int]:
    """Where to cut ``size`` nodes: shares as they round, at least one node for each part whose share is not zero."""
    wanted = [train, val, 1 - train - val]
    least = [int(share > 1e-9) for share in wanted]
    if size < sum(least):
        return [size, size]
    counts = [max(few, round(share * size)) for few, share in zip(least, wanted, strict=True)]
    while sum(counts) != size:  # rounding, or a part that was given its one node
        step = 1 if sum(counts) < size else -1
        away = [step * (share * size - count) if count + step >= few else -np.inf
                for share, count, few in zip(wanted, counts, least, strict=True)]  # fmt: skip
        counts[int(np.argmax(away))] += step
    return [counts[0], counts[0] + counts[1]]

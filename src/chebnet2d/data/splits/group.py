"""Whole groups in each part: how a model does on groups that it has not seen."""

from typing import Any

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.data.splits.kinds import checked_shares, column_of, labelled_nodes, make_split, named_by_shares, split_kind
from chebnet2d.data.splits.parts import Split


@split_kind("group")
def group(data: Any, seed: int, *, train: float = 0.6, val: float = 0.2) -> Split:
    """By ``data.group``: groups in random order, each to the part that lacks most. Nodes without a group are in no part."""
    known, _ = labelled_nodes(data)
    train, val = checked_shares(train, val)
    groups = column_of(data, "group", "group_column")[known]
    names, sizes = np.unique(groups[groups >= 0], return_counts=True)
    if names.size < 3:
        raise InputError("split", "labelled nodes", "at least three groups", got=str(names.size), verb="have")
    wanted = np.array([train, val, max(0.0, 1 - train - val)]) * sizes.sum()
    order = np.random.RandomState(seed).permutation(names.size)
    largest_first = order[np.argsort(-sizes[order], kind="stable")]
    parts: list[list[Any]] = [[], [], []]
    for k in largest_first:
        lacking = int(np.argmax(wanted))
        parts[lacking].append(names[k])
        wanted[lacking] -= sizes[k]
    return make_split(named_by_shares("group", train, val), seed, *(known[np.isin(groups, part)] for part in parts))

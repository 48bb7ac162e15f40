"""The past to train, the future to test."""

from typing import Any

import numpy as np

from chebnet2d._checks import InputError
from chebnet2d.data.splits.kinds import checked_shares, column_of, labelled_nodes, make_split, named_by_shares, split_kind
from chebnet2d.data.splits.parts import Split


@split_kind("time")
def time(data: Any, seed: int, *, train: float = 0.6, val: float = 0.2) -> Split:
    """By ``data.time``: the earliest nodes to train, the latest to test. Nodes of one moment stay together; the seed has no part.

    Labelled nodes without a time are in no part.
    """
    known, _ = labelled_nodes(data)
    train, val = checked_shares(train, val)
    times = column_of(data, "time", "time_column")[known]
    known, times = known[~np.isnan(times)], times[~np.isnan(times)]
    moments = np.unique(times)
    if moments.size < 3:
        raise InputError("split", "the time of labelled nodes", "at least three values", got=str(moments.size), verb="have")
    # The moment that begins the second part, and the third: where the shares end, with a moment at least for each part.
    ordered, last = np.sort(times), moments.size - 1
    ends = [ordered[min(round(share * known.size), known.size - 1)] for share in (train, train + val)]
    second = min(max(int(np.searchsorted(moments, ends[0])), 1), last - 1)
    third = min(max(int(np.searchsorted(moments, ends[1])), second + 1), last)
    parts = (times < moments[second], (times >= moments[second]) & (times < moments[third]), times >= moments[third])
    return make_split(named_by_shares("time", train, val), seed, *(known[part] for part in parts))

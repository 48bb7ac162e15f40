"""Splits that come with the data, as masks."""

import numpy as np
from torch_geometric.data import Data

from chebnet2d._checks import InputError, integer
from chebnet2d.data.splits.kinds import labels_of, make_split, split_kind
from chebnet2d.data.splits.parts import PARTS, Split


@split_kind("fixed")
def fixed(data: Data, seed: int) -> Split:
    """The split that the data's authors made: column ``seed`` of the masks."""
    return _from_masks(data, seed, "fixed", "")


@split_kind("geom-gcn")
def geom_gcn(data: Data, seed: int) -> Split:
    """The splits of Geom-GCN, which have masks of their own."""
    return _from_masks(data, seed, "geom-gcn", "geom_gcn_")


def _from_masks(data: Data, seed: int, name: str, prefix: str) -> Split:
    masks = [getattr(data, f"{prefix}{part}_mask", None) for part in PARTS]
    if any(mask is None for mask in masks):
        owner = getattr(data, "name", None) or "the data"
        hint = "Its files carry none; use 'uniform'."
        raise InputError("split", f"kind {name!r}", f"masks in {owner}", got="none", hint=hint, verb="have")
    known = labels_of(data) >= 0
    tables = [np.asarray(mask).reshape(known.size, -1) for mask in masks]
    count = tables[0].shape[1]
    number = 0 if count == 1 else integer("split", f"seed of the {count} {name} splits", seed, 0, count - 1)
    # A column of every table: some datasets have many train masks and one test mask.
    parts = [np.flatnonzero(table[:, number if table.shape[1] > 1 else 0] & known) for table in tables]
    if sum(part.size for part in parts) != np.unique(np.concatenate(parts)).size:
        raise InputError("split", f"the masks of the {name} split {number}", "disjoint", got="nodes in two parts")
    return make_split(name, number, *parts)

"""Split kinds by name, and what makers of splits need. A split is a pure function of labels, kind and seed."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer, real
from chebnet2d._registry import Registry
from chebnet2d.data.dataset import num_classes
from chebnet2d.data.splits.parts import Split

MAX_SEED = 2**32 - 1
SPLIT_KINDS: Registry[Callable[..., Split]] = Registry("split_kind")
split_kind = SPLIT_KINDS.register
"""``@split_kind("name")`` above a function ``(data, seed, *, options) -> Split``; ``split`` passes its options on."""


def split(data: Any, kind: str = "uniform", seed: int = 0, **options: Any) -> Split:
    """The split of a ``Data`` of that kind.

    - "stratified": the same shares of every class, 60/20/20; "k-fold": ``folds=5``, of which the seed names one.
    - "time" and "group": by the columns of a graph of your own that ``time_column=`` and ``group_column=`` name.
    - "uniform": a random permutation, 60/20/20; other parts by ``train=``, ``val=``. "uniform-50": 50/25/25.
    - "balanced": round(train N / C) nodes of every class, the rest at random, as BernNet and ChebNetII draw it;
      "balanced-torch": the same law, as GPRGNN and JacobiConv draw it.
    - "per-class": ``per_class=20`` nodes of every class, then ``val=500`` and ``test=1000`` (None: all that remain).
    - "fixed": the masks that come with the data; the seed is the number of the split. A single one serves every seed.
    - "geom-gcn": the ten splits of Geom-GCN for Cora, CiteSeer and PubMed, if their files are there.

    N labels instead of a ``Data`` do for those that need nothing else.

    >>> print(split([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, -1], "uniform", seed=0))
    uniform, seed 0, 6/2/2 nodes, digest 2da3a0e3a35d37d3
    """
    make = SPLIT_KINDS.find(kind, "split", "kind")
    seed = integer("split", "seed", seed, 0, MAX_SEED)
    admitted = [name for name, argument in inspect.signature(make).parameters.items() if argument.kind is argument.KEYWORD_ONLY]
    for option in options:
        if option not in admitted:
            raise InputError("split", f"options of kind {kind!r}", " and ".join(admitted) or "none", option)
    return make(data, seed, **options)


def labels_of(data: Any) -> Any:
    """N int64 labels of a ``Data``, a tensor or a list."""
    y = getattr(data, "y", data)
    labels = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise InputError("split", "labels", "N integers", labels)
    return labels.astype(np.int64, copy=False)


def labelled_nodes(data: Any) -> tuple[Any, Any]:
    """Ids of the labelled nodes, ascending, and their labels."""
    labels = labels_of(data)
    known = np.flatnonzero(labels >= 0)
    if known.size == 0:
        raise InputError("split", "some nodes", "a label (>= 0)", got=f"none among {labels.size}", verb="have")
    return known, labels[known]


def class_count(data: Any, y: Any) -> int:
    return max(num_classes(data), int(y.max()) + 1) if hasattr(data, "y") else int(y.max()) + 1


def checked_shares(train: Any, val: Any) -> tuple[float, float]:
    train, val = real("split", "train", train, 0.0, 1.0), real("split", "val", val, 0.0, 1.0)
    if train == 0 or train + val > 1:
        got = f"train={train:g} and val={val:g}"
        raise InputError("split", "train and val", "parts of 1 with something to train on", got=got)
    return train, val


def usual_split(data: Any) -> str:
    """The kind for who does not name one: of a graph of the user's own its split column, else "stratified"; else "uniform"."""
    if data.get("node_ids") is None:
        return "uniform"
    return "stratified" if data.get("train_mask") is None else "fixed"


def column_of(data: Any, attribute: str, argument: str) -> Any:
    """What a graph knows about its nodes, such as ``time``, as an array."""
    found = data.get(attribute) if hasattr(data, "get") else None
    if found is None:
        hint = "Name the column of your node table by {}."
        what = f"kind {attribute!r}"
        raise InputError("split", what, f"a {attribute} for each node", got="none", hint=hint, verb="have", mentions=(argument,))
    return np.asarray(found)


def class_words(data: Any, index: int) -> str:
    """A class by its name, where the graph has names."""
    names = data.get("class_names") if hasattr(data, "get") else None
    return f"class {str(names[index])!r}" if names else f"class {index}"


def named_by_shares(name: str, train: float, val: float) -> str:
    return name if (train, val) == (0.6, 0.2) else f"{name}(train={train:g}, val={val:g})"


def make_split(name: str, seed: int, *parts: Any) -> Split:
    """A ``Split`` of three arrays of node indices, sorted."""
    train, val, test = (torch.from_numpy(np.sort(np.asarray(part, dtype=np.int64))) for part in parts)
    if train.numel() == 0:
        raise InputError("split", name, "a node to train on", got="too few labelled nodes", verb="leave")
    return Split(name, seed, train, val, test)

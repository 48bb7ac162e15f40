"""Splits as pure functions of (labels, protocol, seed). Nodes without a label (-1) are in no part.

"60/20/20" means two things in the literature. ``uniform`` cuts a random permutation. ``balanced`` takes the same number of
nodes of every class into train: a class smaller than that number is in train as a whole, and never tested. The two give
different numbers, so a split carries its name.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer, one_of, real
from chebnet2d.data.dataset import num_classes
from chebnet2d.data.split import PARTS, Split

MAX_SEED = 2**32 - 1


def split(data: Any, protocol: str = "uniform", seed: int = 0, **options: Any) -> Split:
    """The split of a ``Data`` by a protocol.

    - "uniform": a random permutation, 60/20/20; other parts by ``train=``, ``val=``. "uniform-50": 50/25/25.
    - "balanced": round(train N / C) nodes of every class, the rest at random, as BernNet and ChebNetII draw it;
      "balanced-torch": the same law, as GPRGNN and JacobiConv draw it.
    - "per-class": ``per_class=20`` nodes of every class, then ``val=500`` and ``test=1000`` (None: all that remain).
    - "fixed": the masks that come with the data; the seed is the number of the split. A single one serves every seed.
    - "geom-gcn": the ten splits of Geom-GCN for Cora, CiteSeer and PubMed, if their files are there.

    N labels instead of a ``Data`` do for all but the last two.

    >>> print(split([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, -1], "uniform", seed=0))
    uniform, seed 0, 6/2/2 nodes, digest 2da3a0e3a35d37d3
    """
    one_of("split", "protocol", protocol, tuple(PROTOCOLS))
    seed = integer("split", "seed", seed, 0, MAX_SEED)
    maker = PROTOCOLS[protocol]
    admitted = [name for name, argument in inspect.signature(maker).parameters.items() if argument.kind is argument.KEYWORD_ONLY]
    for option in options:
        if option not in admitted:
            rule = " and ".join(admitted) or "none"
            raise InputError("split", f"options of protocol {protocol!r}", rule, option)
    return maker(data, seed, **options)


def uniform(data: Any, seed: int, *, train: float = 0.6, val: float = 0.2) -> Split:
    """A permutation of the labelled nodes, cut: int(train N) to train, int(val N) to validation, the rest to test."""
    known, _ = _labelled(data)
    train, val = _ratios(train, val)
    order = known[np.random.RandomState(seed).permutation(known.size)]
    first = int(train * known.size)
    name = {(0.6, 0.2): "uniform", (0.5, 0.25): "uniform-50"}.get((train, val), f"uniform(train={train:g}, val={val:g})")
    return _made(name, seed, *np.split(order, [first, first + int(val * known.size)]))


def uniform_50(data: Any, seed: int) -> Split:
    """50/25/25, the parts of LINKX and of Platonov et al."""
    return uniform(data, seed, train=0.5, val=0.25)


def balanced(data: Any, seed: int, *, train: float = 0.6, val: float = 0.2) -> Split:
    """BernNet's and ChebNetII's form: one numpy stream; a class that is too small is taken whole, without a draw."""
    known, y = _labelled(data)
    train, val = _ratios(train, val)
    classes = _classes(data, y)
    wanted = round(train * known.size / classes)
    rng = np.random.RandomState(seed)
    chosen = []
    for c in range(classes):
        members = known[y == c]
        chosen.append(members if members.size < wanted else rng.choice(members, wanted, replace=False))
    taken = np.concatenate(chosen)
    rest = np.setdiff1d(known, taken)
    validation = rng.choice(rest, min(round(val * known.size), rest.size), replace=False) if rest.size else rest
    return _made(_balanced_name("balanced", train, val), seed, taken, validation, np.setdiff1d(rest, validation))


def balanced_torch(data: Any, seed: int, *, train: float = 0.6, val: float = 0.2) -> Split:
    """GPRGNN's and JacobiConv's form: torch's permutations, one for each class however small, one for what remains."""
    known, y = _labelled(data)
    train, val = _ratios(train, val)
    classes = _classes(data, y)
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
    return _made(_balanced_name("balanced-torch", train, val), seed, np.concatenate(chosen), rest[:count], rest[count:])


def per_class(data: Any, seed: int, *, per_class: int = 20, val: int = 500, test: int | None = 1000) -> Split:
    """Few labels: the same small number of every class to train, then fixed numbers of the others, at random."""
    known, y = _labelled(data)
    per_class = integer("split", "per_class", per_class, 1)
    val = integer("split", "val", val, 0)
    classes = _classes(data, y)
    sizes = np.bincount(y, minlength=classes)
    if int(sizes.min()) < per_class:
        raise InputError(
            "split",
            "per_class",
            f"at most the size of the smallest class, {int(sizes.min())} (class {int(sizes.argmin())})",
            got=str(per_class),
        )
    rng = np.random.RandomState(seed)
    taken = np.concatenate([rng.choice(known[y == c], per_class, replace=False) for c in range(classes)])
    rest = rng.permutation(np.setdiff1d(known, taken))
    wanted = rest.size - val if test is None else integer("split", "test", test, 1)
    if wanted < 1 or val + wanted > rest.size:
        raise InputError(
            "split",
            "val and test",
            f"room in the {rest.size} nodes outside of train",
            got=f"val={val} and test={test}",
            hint="test=None takes all that remain.",
            verb="leave",
        )
    name = (
        "per-class" if (per_class, val, test) == (20, 500, 1000) else f"per-class(per_class={per_class}, val={val}, test={test})"
    )
    return _made(name, seed, taken, rest[:val], rest[val : val + wanted])


def fixed(data: Any, seed: int) -> Split:
    """The split that the data's authors made: column ``seed`` of the masks."""
    return _from_masks(data, seed, "fixed", "")


def geom_gcn(data: Any, seed: int) -> Split:
    return _from_masks(data, seed, "geom-gcn", "geom_gcn_")


PROTOCOLS: dict[str, Callable[..., Split]] = {
    "uniform": uniform,
    "uniform-50": uniform_50,
    "balanced": balanced,
    "balanced-torch": balanced_torch,
    "per-class": per_class,
    "fixed": fixed,
    "geom-gcn": geom_gcn,
}


def labels_of(data: Any) -> Any:
    """N int64 labels of a ``Data``, a tensor or a list."""
    y = getattr(data, "y", data)
    labels = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise InputError("split", "labels", "N integers", labels)
    return labels.astype(np.int64, copy=False)


def _labelled(data: Any) -> tuple[Any, Any]:
    """Ids of the labelled nodes, ascending, and their labels."""
    labels = labels_of(data)
    known = np.flatnonzero(labels >= 0)
    if known.size == 0:
        raise InputError("split", "some nodes", "a label (>= 0)", got=f"none among {labels.size}", verb="have")
    return known, labels[known]


def _classes(data: Any, y: Any) -> int:
    return max(num_classes(data), int(y.max()) + 1) if hasattr(data, "y") else int(y.max()) + 1


def _ratios(train: Any, val: Any) -> tuple[float, float]:
    train, val = real("split", "train", train, 0.0, 1.0), real("split", "val", val, 0.0, 1.0)
    if train == 0 or train + val > 1:
        raise InputError(
            "split", "train and val", "parts of 1 with something to train on", got=f"train={train:g} and val={val:g}"
        )
    return train, val


def _balanced_name(name: str, train: float, val: float) -> str:
    return name if (train, val) == (0.6, 0.2) else f"{name}(train={train:g}, val={val:g})"


def _from_masks(data: Any, seed: int, name: str, prefix: str) -> Split:
    masks = [getattr(data, f"{prefix}{part}_mask", None) for part in PARTS]
    if any(mask is None for mask in masks):
        owner = getattr(data, "name", None) or "the data"
        hint = "Its files carry none; use 'uniform'."
        raise InputError("split", f"protocol {name!r}", f"masks in {owner}", got="none", hint=hint, verb="have")
    known = labels_of(data) >= 0
    tables = [np.asarray(mask).reshape(known.size, -1) for mask in masks]
    count = tables[0].shape[1]
    number = 0 if count == 1 else integer("split", f"seed of the {count} {name} splits", seed, 0, count - 1)
    # A column of every table: some datasets have many train masks and one test mask.
    parts = [np.flatnonzero(table[:, number if table.shape[1] > 1 else 0] & known) for table in tables]
    if sum(part.size for part in parts) != np.unique(np.concatenate(parts)).size:
        raise InputError("split", f"the masks of the {name} split {number}", "disjoint", got="nodes in two parts")
    return _made(name, number, *parts)


def _made(name: str, seed: int, *parts: Any) -> Split:
    train, val, test = (torch.from_numpy(np.sort(np.asarray(part, dtype=np.int64))) for part in parts)
    if train.numel() == 0:
        raise InputError("split", name, "a node to train on", got="too few labelled nodes", verb="leave")
    return Split(name, seed, train, val, test)

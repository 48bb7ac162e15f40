"""A given number of nodes of every class to train: few labels."""

from typing import Any

import numpy as np

from chebnet2d._checks import InputError, integer
from chebnet2d.data.splits.kinds import class_count, labelled_nodes, make_split, split_kind
from chebnet2d.data.splits.parts import Split


@split_kind("per-class")
def per_class(data: Any, seed: int, *, per_class: int = 20, val: int = 500, test: int | None = 1000) -> Split:
    """The same small number of every class to train, then fixed numbers of the other nodes, at random."""
    known, y = labelled_nodes(data)
    per_class = integer("split", "per_class", per_class, 1)
    val = integer("split", "val", val, 0)
    classes = class_count(data, y)
    sizes = np.bincount(y, minlength=classes)
    if int(sizes.min()) < per_class:
        rule = f"at most the size of the smallest class, {int(sizes.min())} (class {int(sizes.argmin())})"
        raise InputError("split", "per_class", rule, per_class)
    rng = np.random.RandomState(seed)
    taken = np.concatenate([rng.choice(known[y == c], per_class, replace=False) for c in range(classes)])
    rest = rng.permutation(np.setdiff1d(known, taken))
    wanted = rest.size - val if test is None else integer("split", "test", test, 1)
    if wanted < 1 or val + wanted > rest.size:
        hint = "test=None takes all that remain."
        got = f"val={val} and test={test}"
        rule = f"room in the {rest.size} nodes outside of train"
        raise InputError("split", "val and test", rule, got=got, hint=hint, verb="leave")
    name = (
        "per-class" if (per_class, val, test) == (20, 500, 1000) else f"per-class(per_class={per_class}, val={val}, test={test})"
    )
    return make_split(name, seed, taken, rest[:val], rest[val : val + wanted])

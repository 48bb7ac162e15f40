"""Folds: every labelled node is a test node of one of k splits."""

from typing import Any

import numpy as np

from chebnet2d._checks import InputError, integer, real
from chebnet2d.data.splits.kinds import class_words, labelled_nodes, make_split, split_kind
from chebnet2d.data.splits.parts import Split


@split_kind("k-fold")
def k_fold(data: Any, seed: int, *, folds: int = 5, val: float = 0.2) -> Split:
    """Seeds 0 to k - 1 are the k folds of one partition, k to 2k - 1 those of the next. All parts are stratified.

    ``val``: share of the nodes outside of the fold that select; all others are trained on.
    """
    known, y = labelled_nodes(data)
    folds, val = integer("split", "folds", folds, 2), real("split", "val", val, 0.0, 1.0, below=True)
    classes, sizes = np.unique(y, return_counts=True)
    if int(sizes.min()) < folds:
        rule = f"at least {folds} labelled nodes, one for each fold"
        few = [(c, n) for c, n in zip(classes, sizes, strict=True) if n < folds]
        got = ", ".join(f"{n} of {class_words(data, c)}" for c, n in few[:5])
        raise InputError("split", "every class", rule, got=got, hint="Use fewer folds, or 'stratified'.", verb="have")
    parts = fold_parts(known, y, folds, val, seed)
    name = "k-fold" if (folds, val) == (5, 0.2) else f"k-fold(folds={folds}, val={val:g})"
    return make_split(name, seed, *parts)


def fold_parts(known: Any, y: Any, folds: int, val: float, seed: int) -> list[Any]:
    """(training, validation, fold) of the nodes ``known`` with labels ``y``. A class may be smaller than ``folds``."""
    rng = np.random.RandomState(seed // folds)
    parts: list[list[Any]] = [[], [], []]
    begin = 0
    for c in np.unique(y):
        members = rng.permutation(known[y == c])
        fold = (np.arange(members.size) + begin) % folds  # classes begin at different folds: sizes differ by one at most
        begin = (begin + members.size) % folds
        rest = members[fold != seed % folds]
        count = max(0, min(max(1, round(val * rest.size)), rest.size - 1)) if val > 0 else 0
        chosen = (rest[count:], rest[:count], members[fold == seed % folds])
        for part, nodes in zip(parts, chosen, strict=True):
            part.append(nodes)
    return [np.concatenate(part) for part in parts]

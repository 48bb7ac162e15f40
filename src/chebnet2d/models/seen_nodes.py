"""Which nodes a model was trained with, their numbers there and their parts of the split: hashes of ids, 17 bytes for a node."""

import hashlib
from typing import Any

import numpy as np
import torch
from torch import Tensor

PARTS = ("train", "val", "test")
NEW = "new"
_NAMES = ("seen nodes: keys", "seen nodes: parts", "seen nodes: numbers")
"""Of the tensors beside the weights, which no parameter can have: they hold a blank."""


class SeenNodes:
    """``ids``: of the N nodes of the training graph. ``split``: indices of its parts. Hashes are made when they are asked for."""

    def __init__(self, ids: Any, split: Any) -> None:
        self._ids, self._split = ids, split
        self._table: tuple[Any, Any, Any] | None = None

    def tensors(self) -> dict[str, Tensor]:
        """To be saved: keys in ascending order; for each 0 (in no part), 1, 2 or 3, and its number in the training graph."""
        keys, *others = self._sorted()
        return dict(zip(_NAMES, map(torch.from_numpy, (keys.view(np.int64), *others)), strict=True))

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor]) -> "SeenNodes | None":
        """Takes its own out of those of a file."""
        keys, parts, numbers = (tensors.pop(name, None) for name in _NAMES)
        if keys is None or parts is None or keys.shape != parts.shape or keys.dim() != 1:
            return None
        if numbers is None or bool((numbers < 0).all()):  # of an older version: the order counts as that of the graph at hand
            numbers = torch.full_like(keys, -1)
        elif numbers.shape != keys.shape or not torch.equal(numbers.sort().values, torch.arange(len(keys))):
            return None
        seen = cls(None, None)
        seen._table = keys.numpy().view(np.uint64), parts.numpy(), numbers.numpy()
        return seen

    @property
    def count(self) -> int:
        return len(self._sorted()[0])

    def counts(self) -> dict[str, int]:
        """How many nodes each part had, where it had any."""
        numbers = np.bincount(self._sorted()[1], minlength=len(PARTS) + 1)[1:].tolist()
        return {part: count for part, count in zip(PARTS, numbers, strict=True) if count}

    def part_of(self, ids: Any) -> list[str | None]:
        """ "train", "val" or "test", None for a node that was in no part, "new" for one that was not in the graph."""
        place, known = self._find(ids)
        words: list[str | None] = [None, *PARTS]
        parts = self._sorted()[1]
        return [words[parts[k]] if there else NEW for k, there in zip(place.tolist(), known.tolist(), strict=True)]

    def numbers_of(self, ids: Any) -> Any:
        """The number of each node in the training graph, -1 for one that was not there."""
        place, known = self._find(ids)
        numbers = self._sorted()[2]
        if not self.count or (numbers < 0).all():
            return np.where(known & (np.arange(len(known)) < self.count), np.arange(len(known)), -1)
        return np.where(known, numbers[place], -1)

    def changes(self, ids: Any) -> tuple[int, int]:
        """(how many of these nodes are new, how many of the training graph are gone)."""
        known = int(self._find(ids)[1].sum())
        return len(ids) - known, self.count - known

    def _find(self, ids: Any) -> tuple[Any, Any]:
        """The place of each id among the keys, and whether it is there."""
        keys, asked = self._sorted()[0], _keys(ids)
        place = np.searchsorted(keys, asked).clip(max=max(len(keys) - 1, 0))
        return place, keys[place] == asked if len(keys) else np.zeros(len(asked), dtype=bool)

    def _sorted(self) -> tuple[Any, Any, Any]:
        if self._table is None:
            keys, parts = _keys(self._ids), np.zeros(len(self._ids), dtype=np.uint8)
            for number, part in enumerate(PARTS, start=1):
                parts[getattr(self._split, part).cpu().numpy()] = number
            order = np.argsort(keys)
            self._table = keys[order], parts[order], order.astype(np.int64)
        return self._table


def _keys(ids: Any) -> Any:
    """uint64. An id that is an integer in one graph and the text of it in another, beside words, has the same key."""
    array = np.asarray(ids)
    if array.dtype.kind in "iu":
        return _mixed(array.astype(np.int64).view(np.uint64))
    return np.array([_key(str(word)) for word in array.tolist()], dtype=np.uint64)


def _key(word: str) -> int:
    digits = word.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 19 and str(int(word)) == word:
        return int(_mixed(np.array([int(word)], dtype=np.int64).view(np.uint64))[0])
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


def _mixed(values: Any) -> Any:
    """The finaliser of splitmix64, which is one-to-one."""
    with np.errstate(over="ignore"):
        values = values + np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
        return values ^ (values >> np.uint64(31))

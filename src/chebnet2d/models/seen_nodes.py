"""Which nodes a model was trained with, their numbers there and their parts of the split: hashes of ids, 17 bytes for a node."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d.graph.node_keys import node_keys

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
        keys, asked = self._sorted()[0], node_keys(ids)
        place = np.searchsorted(keys, asked).clip(max=max(len(keys) - 1, 0))
        return place, keys[place] == asked if len(keys) else np.zeros(len(asked), dtype=bool)

    def _sorted(self) -> tuple[Any, Any, Any]:
        if self._table is None:
            keys, parts = node_keys(self._ids), np.zeros(len(self._ids), dtype=np.uint8)
            for number, part in enumerate(PARTS, start=1):
                parts[getattr(self._split, part).cpu().numpy()] = number
            order = np.argsort(keys)
            self._table = keys[order], parts[order], order.astype(np.int64)
        return self._table

"""Boosted trees as plain arrays: no code is needed to read them back, and none of scikit-learn's to predict with them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d.models.estimators.learned_buffers import LearnedBuffers


class Forest(LearnedBuffers):
    """S stages of T trees. At node i a row goes on to ``left[i]`` if its number ``feature[i]`` is <= ``threshold[i]``, else to
    ``right[i]``; a leaf leads to itself, and adds ``value[i]``. ``roots``: S x T nodes. The nodes of a tree follow each other.

          0: x[3] <= 0.5        feature   3     0     0
           /        \\          left      1     1     2
        1: leaf   2: leaf       right     2     1     2
    """

    feature: Tensor
    threshold: Tensor
    left: Tensor
    right: Tensor
    value: Tensor
    roots: Tensor

    def __init__(self) -> None:
        super().__init__()
        for name in ("feature", "left", "right"):
            self.register_buffer(name, torch.zeros(0, dtype=torch.int64))
        for name in ("threshold", "value"):
            self.register_buffer(name, torch.zeros(0, dtype=torch.float64))
        self.register_buffer("roots", torch.zeros(0, 0, dtype=torch.int64))

    def clear(self) -> None:
        self.learn(**{name: buffer[:0] for name, buffer in self.named_buffers()})

    def grow(self, stages: Sequence[Sequence[Any]]) -> None:
        """Add stages of trees, each an array of nodes as scikit-learn's ``TreePredictor`` has it."""
        trees = [tree for stage in stages for tree in stage]
        sizes = np.array([tree.size for tree in trees])
        starts = self.feature.numel() + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        nodes, first = np.concatenate(trees), np.repeat(starts, sizes)
        own = self.feature.numel() + np.arange(nodes.size)
        leaf = nodes["is_leaf"] == 1
        added = {
            "feature": np.where(leaf, 0, nodes["feature_idx"]),
            "threshold": np.where(leaf, 0.0, nodes["num_threshold"]),
            "left": np.where(leaf, own, first + nodes["left"]),
            "right": np.where(leaf, own, first + nodes["right"]),
            "value": nodes["value"],
        }
        roots = torch.from_numpy(starts.reshape(len(stages), -1))
        self.learn(roots=torch.cat([self.roots, roots]) if self.roots.numel() else roots)
        self.learn(**{name: torch.cat([getattr(self, name), torch.from_numpy(values)]) for name, values in added.items()})

    def keep(self, stages: int) -> None:
        if stages < len(self.roots):
            end = int(self.roots[stages, 0])
            self.learn(roots=self.roots[:stages].clone())
            for name in ("feature", "threshold", "left", "right", "value"):
                self.learn(**{name: getattr(self, name)[:end].clone()})

    def forward(self, rows: Any, first: int = 0) -> Any:
        """The sums over the stages from ``first`` on: N x T, or N x 1 zeros where there are none."""
        total = np.zeros((rows.shape[0], max(self.roots.shape[1], 1)))
        for stage in range(first, len(self.roots)):
            total += self.stage(rows, stage)
        return total

    def stage(self, rows: Any, number: int) -> Any:
        """What the trees of one stage add: N x T."""
        feature, threshold, left, right = (b.numpy() for b in (self.feature, self.threshold, self.left, self.right))
        every = np.arange(rows.shape[0])[:, None]
        place = np.broadcast_to(self.roots[number].numpy(), (rows.shape[0], self.roots.shape[1]))
        while True:
            onward = np.where(rows[every, feature[place]] <= threshold[place], left[place], right[place])
            if (onward == place).all():
                return self.value.numpy()[place]
            place = onward

    def _load_from_state_dict(self, state_dict, prefix, *more):  # type: ignore[no-untyped-def]
        super()._load_from_state_dict(state_dict, prefix, *more)
        if not self._sound():
            more[-1].append("the trees must lead from each node to later ones or, at a leaf, to itself")  # errors of the caller

    def _sound(self) -> bool:
        """Whether every walk ends: a file may hold anything."""
        count = self.feature.numel()
        if any(getattr(self, name).numel() != count for name in ("threshold", "left", "right", "value")):
            return False
        own = torch.arange(count)
        leaf = (self.left == own) & (self.right == own)
        inner = (self.left > own) & (self.right > own) & (self.left < count) & (self.right < count) & (self.feature >= 0)
        roots_inside = bool(((self.roots >= 0) & (self.roots < count)).all())
        return bool((leaf | inner).all()) and roots_inside

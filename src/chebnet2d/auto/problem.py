"""What candidates are judged on: a graph whose test labels are out of sight, and folds of all other labelled nodes."""

import copy
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chebnet2d import data as datasets
from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.data import Split
from chebnet2d.data.splits import make_split
from chebnet2d.data.splits.k_fold import fold_parts
from chebnet2d.training.batches import Batch
from chebnet2d.training.metrics import Meter, check_metric, find_metric

NO_TEST = "none"
_INNER = 0.15  # of the nodes outside of a fold, those that stop the training; they are not those that score


@dataclass(frozen=True)
class Problem:
    """``data``: with labels of the pool alone. ``pool``: the training and validation nodes of the split, ascending.

    ``test``: the nodes that nothing here looks at.
    """

    data: Any
    pool: Tensor
    test: Tensor
    metric: str
    class_weight: str
    folds: int
    seed: int
    classes: int
    bases: Path | None = None
    """A folder for bases of the graph; None: this process has none that others can read."""

    @classmethod
    def of(cls, data: Any, split: str | None, metric: str | None, class_weight: str | None, folds: int, seed: int) -> "Problem":
        """``data``: prepared. ``split``: a kind, None for the usual one, or "none" to keep no nodes for a test."""
        folds, seed = integer("auto", "folds", folds, 2, 50), integer("auto", "seed", seed, 0, 10**6)
        weight = one_of("auto", "class_weight", class_weight or "none", ("none", "balanced"))
        classes = datasets.num_classes(data)
        chosen = check_metric("auto", metric or data.get("metric") or "accuracy", classes)
        if split == NO_TEST:
            pool, test = torch.nonzero(data.y >= 0).squeeze(1), torch.zeros(0, dtype=torch.int64)
        else:
            parts = datasets.split(data, split or datasets.usual_split(data), seed)
            pool, test = torch.cat([parts.train, parts.val]).sort().values, parts.test
        sizes = torch.bincount(data.y[pool], minlength=classes)
        if pool.numel() < 2 * folds or int((sizes > 0).sum()) < 2:
            rule = f"at least {2 * folds} nodes outside of test, of two classes"
            got = f"{pool.numel()} of {int((sizes > 0).sum())}"
            raise InputError("auto", "the split", rule, got=got, hint="Use fewer of {}.", verb="leave", mentions=("folds",))
        hidden = copy.copy(data)
        hidden.y = torch.full_like(data.y, -1)
        hidden.y[pool] = data.y[pool]
        hidden.metric, hidden.num_classes = chosen, classes
        return cls(hidden, pool, test, chosen, weight, folds, seed, classes)

    @property
    def y(self) -> Tensor:
        """Labels of the pool."""
        labels: Tensor = self.data.y[self.pool]
        return labels

    def splits(self, repeat: int) -> list[Split]:
        """The folds of one partition, each with its fold as ``test``. Another ``repeat`` is another partition."""
        known, y = self.pool.numpy(), self.y.numpy()
        numbers = range(repeat * self.folds, (repeat + 1) * self.folds)
        shift = self.folds * 1000 * self.seed  # other seeds, other partitions
        return [make_split("auto", n, *fold_parts(known, y, self.folds, _INNER, shift + n)) for n in numbers]

    def fold_scores(self, probabilities: Tensor) -> list[float]:
        """The metric on each fold of the first partition, from P x C out-of-fold probabilities of the pool."""
        meter_of, place = find_metric(self.metric), np.full(self.data.num_nodes, -1)
        place[self.pool.numpy()] = np.arange(self.pool.numel())
        scores = []
        for split in self.splits(0):
            rows = torch.from_numpy(place[split.test.numpy()])
            meter = Meter([meter_of])
            meter.add(probabilities[rows].double().clamp(min=1e-300).log().unsqueeze(0), Batch((), self.y[rows]))
            scores.append(meter.scores()[self.metric][0])
        return scores

    def digest(self, options: Sequence[Any]) -> str:
        """Of all that a leaderboard depends on but the budget."""
        facts = [self.metric, self.class_weight, self.folds, self.seed, self.classes, *options]
        hasher = hashlib.sha256(datasets.dataset_digest(self.data).encode())
        hasher.update(self.pool.numpy().tobytes())
        hasher.update(json.dumps(facts, sort_keys=True).encode())
        return hasher.hexdigest()[:16]

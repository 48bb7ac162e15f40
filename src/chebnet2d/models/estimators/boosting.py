"""Gradient boosted trees on a node's own and its neighbours' numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from torch import Tensor

from chebnet2d._checks import integer, real
from chebnet2d.graph import Graph
from chebnet2d.models.estimators.estimator import ABSENT, Estimator, as_logits, training_part
from chebnet2d.models.estimators.forest import Forest
from chebnet2d.models.estimators.inputs import INPUTS, Inputs
from chebnet2d.models.registry import register
from chebnet2d.nn import Features

_BLOCK = 10  # iterations that are fitted at a time, or a quarter of those before: validation may end the training at any


@register("boosting")
class Boosting(Estimator):
    """scikit-learn's ``HistGradientBoostingClassifier``. An epoch is an iteration: one tree for each class (one for two classes).

    How many iterations stay is decided by the validation nodes, as the best epoch of other methods is.

    Args:
        inputs: what is seen of a node: "features"; "neighbours": and means over neighbours; "labels": and the shares of the
            classes among neighbours that are training nodes. On another graph these are found by their ids.
        columns: features beyond this number are first projected on so many directions (truncated SVD).
        learning_rate: of an iteration.
        max_leaf_nodes: of a tree.
        min_samples_leaf: training nodes of a leaf, at least.
        l2_regularization: on the values of leaves.
        max_features: the part of the columns that a split is chosen from, drawn anew for each.
        max_bins: values of a column that splits tell apart; the time for small graphs is proportional to it.
    """

    max_stages: ClassVar[int | None] = None
    per_node: ClassVar[tuple[str, ...]] = ("inputs.known",)
    known_labels: ClassVar[tuple[str, ...]] = per_node
    search_space: ClassVar[Mapping[str, Mapping[str, Sequence[Any]]]] = {
        "model": {
            "inputs": list(INPUTS),
            "learning_rate": [0.03, 0.1, 0.2],
            "max_leaf_nodes": [7, 15, 31],
            "min_samples_leaf": [5, 20],
            "l2_regularization": [0.0, 1.0, 10.0],
            "max_features": [0.3, 1.0],
        }
    }
    base: Tensor
    targets: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        inputs: str = "neighbours",
        columns: int = 64,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 63,
    ) -> None:
        super().__init__()
        self.inputs = Inputs("Boosting", in_channels, out_channels, inputs, columns)
        self.options = {
            "learning_rate": real("Boosting", "learning_rate", learning_rate, 1e-6, 1),
            "max_leaf_nodes": integer("Boosting", "max_leaf_nodes", max_leaf_nodes, 2),
            "min_samples_leaf": integer("Boosting", "min_samples_leaf", min_samples_leaf, 1),
            "l2_regularization": real("Boosting", "l2_regularization", l2_regularization, 0),
            "max_features": real("Boosting", "max_features", max_features, 1e-6, 1),
            "max_bins": integer("Boosting", "max_bins", max_bins, 2, 255),
        }
        self.forest = Forest()
        self.register_buffer("base", torch.zeros(out_channels, dtype=torch.float64))
        self.register_buffer("targets", torch.zeros(0, dtype=torch.int64))

    def stages(
        self,
        x: Features,
        edge_index: Graph,
        edge_weight: Tensor | None,
        labels: Tensor,
        seed: int,
        class_weights: Tensor | None = None,
    ) -> Iterator[Tensor]:
        from sklearn.ensemble import HistGradientBoostingClassifier

        self.forest.clear()
        self.inputs.prepare(x, labels, seed)
        rows = self.inputs(x, edge_index, edge_weight)
        train, y, weights, classes = training_part("Boosting", rows, labels, class_weights)
        # Of two classes the trees give the log odds of the second.
        targets = classes[1:] if classes.size == 2 else classes
        growing = HistGradientBoostingClassifier(**self.options, early_stopping=False, warm_start=True, random_state=seed)
        logits, done = np.zeros(0), 0
        while True:
            growing.set_params(max_iter=done + max(_BLOCK, done // 4))
            with threadpool_limits(limits=1, user_api="openmp"):  # one core, as all runs: sums do not depend on the machine
                growing.fit(train, y, sample_weight=weights)
            if not done:
                base = np.full(self.base.numel(), ABSENT)
                base[classes] = 0.0
                base[targets] = growing._baseline_prediction[0]
                self.learn(base=base, targets=targets)
                logits = np.tile(base, (rows.shape[0], 1))
            self.forest.grow([[tree.nodes for tree in stage] for stage in growing._predictors[done:]])
            for number in range(done, len(self.forest.roots)):
                logits[:, targets] += self.forest.stage(rows, number)
                yield as_logits(logits, x)
            done = len(self.forest.roots)

    def keep(self, stages: int) -> None:
        self.forest.keep(stages)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        rows = self.inputs(x, edge_index, edge_weight)
        logits = np.tile(self.base.numpy(), (rows.shape[0], 1))
        if self.targets.numel():
            logits[:, self.targets.numpy()] += self.forest(rows)
        return as_logits(logits, x)

"""Logistic regression on a node's own and its neighbours' numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import integer, real
from chebnet2d.graph import Graph
from chebnet2d.models.estimators.estimator import ABSENT, Estimator, as_logits, training_part
from chebnet2d.models.estimators.inputs import INPUTS, Inputs
from chebnet2d.models.registry import register
from chebnet2d.nn import Features


@register("logistic")
class Logistic(Estimator):
    """scikit-learn's ``LogisticRegression`` on columns that have mean 0 and variance 1 on the training nodes. One fit, one epoch.

    Args:
        inputs: what is seen of a node: "features"; "neighbours": and means over neighbours; "labels": and the shares of the
            classes among neighbours that are training nodes. On another graph these are found by their ids.
        columns: features beyond this number are first projected on so many directions (truncated SVD).
        C: the inverse of the penalty on the squares of the coefficients, as scikit-learn has it.
        max_iter: steps of the solver at most; it says so where these are not enough.
    """

    per_node: ClassVar[tuple[str, ...]] = ("inputs.known",)
    known_labels: ClassVar[tuple[str, ...]] = per_node
    search_space: ClassVar[Mapping[str, Mapping[str, Sequence[Any]]]] = {
        "model": {"inputs": list(INPUTS), "C": [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0]}
    }
    coefficients: Tensor
    intercept: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        inputs: str = "neighbours",
        columns: int = 512,
        C: float = 0.01,
        max_iter: int = 2000,
    ) -> None:
        super().__init__()
        self.inputs = Inputs("Logistic", in_channels, out_channels, inputs, columns)
        self.options = {"C": real("Logistic", "C", C, 1e-12), "max_iter": integer("Logistic", "max_iter", max_iter, 1)}
        self.register_buffer("coefficients", torch.zeros(0, 0, dtype=torch.float64))
        self.register_buffer("intercept", torch.zeros(out_channels, dtype=torch.float64))

    def stages(
        self,
        x: Features,
        edge_index: Graph,
        edge_weight: Tensor | None,
        labels: Tensor,
        seed: int,
        class_weights: Tensor | None = None,
    ) -> Iterator[Tensor]:
        from sklearn.linear_model import LogisticRegression

        self.inputs.prepare(x, labels, seed)
        rows = self.inputs(x, edge_index, edge_weight).astype(np.float64)
        train, y, weights, classes = training_part("Logistic", rows, labels, class_weights)
        mean, scale = train.mean(axis=0), train.std(axis=0)
        scale[scale < 1e-12] = 1.0  # a column that is constant on the training nodes
        found = LogisticRegression(**self.options).fit((train - mean) / scale, y, sample_weight=weights)
        targets = classes[1:] if classes.size == 2 else classes
        # The scale goes into the coefficients: what is kept is one linear map.
        coefficients, intercept = np.zeros((mean.size, self.intercept.numel())), np.full(self.intercept.numel(), ABSENT)
        intercept[classes] = 0.0
        coefficients[:, targets] = (found.coef_ / scale).T
        intercept[targets] = found.intercept_ - (found.coef_ / scale) @ mean
        self.learn(coefficients=coefficients, intercept=intercept)
        yield self(x, edge_index, edge_weight)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        rows = self.inputs(x, edge_index, edge_weight)
        logits = np.tile(self.intercept.numpy(), (rows.shape[0], 1))
        if self.coefficients.numel():
            logits += rows @ self.coefficients.numpy()
        return as_logits(logits, x)

"""What a method that is not trained by gradient steps has in common with the others, and what the trainer asks of it instead."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.graph import Graph
from chebnet2d.models.estimators.learned_buffers import LearnedBuffers
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.nn import Features
from chebnet2d.nn.features import pattern_of

ABSENT = -50.0
"""The logit of a class that no training node has."""


class Estimator(NodeClassifier, LearnedBuffers):
    """Fitted in stages, each of which counts as an epoch: validation nodes say how many of them stay.

    What is learned are buffers, in safetensors as the weights of other methods; before training all classes are alike.
    """

    trained_by: ClassVar[str] = "estimator"
    batches: ClassVar[tuple[str, ...]] = ()
    max_stages: ClassVar[int | None] = 1
    """How many stages there are; None for any number."""

    @abstractmethod
    def stages(
        self,
        x: Features,
        edge_index: Graph,
        edge_weight: Tensor | None,
        labels: Tensor,
        seed: int,
        class_weights: Tensor | None = None,
    ) -> Iterator[Tensor]:
        """Fit anew, on the nodes with a label >= 0 alone; after every stage N x C logits, those that ``forward`` would give.

        ``class_weights``: what a training node of each class counts; None: all the same.
        """

    def keep(self, stages: int) -> None:
        """Only what the first stages learned stays."""

    @abstractmethod
    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor: ...


def as_logits(values: Any, x: Features) -> Tensor:
    """An N x C array as a tensor with the dtype and on the device of the features."""
    like = pattern_of(x)
    return torch.from_numpy(np.ascontiguousarray(values)).to(dtype=like.dtype, device=like.device)


def training_part(owner: str, rows: Any, labels: Tensor, class_weights: Tensor | None) -> tuple[Any, Any, Any, Any]:
    """(rows of the training nodes, their labels, their weights or None, the classes, of which there must be two)."""
    y = labels.cpu().numpy()
    known = y >= 0
    classes = np.unique(y[known])
    if classes.size < 2:
        raise InputError(owner, "split.train", "nodes of two classes at least", got=f"{classes.size}", verb="hold")
    weights = None if class_weights is None else class_weights.cpu().double().numpy()[y[known]]
    return rows[known], y[known], weights, classes

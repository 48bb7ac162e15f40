"""Accuracy: the share of nodes whose largest logit is that of their class."""

import torch
from torch import Tensor

from chebnet2d.training.metrics.metric import SumMetric, register_metric


@register_metric("accuracy")
class Accuracy(SumMetric):
    """Nodes are counted and divided once: epochs with equally many right nodes are a tie, not a matter of rounding.

    The sums are R x 2: the nodes that are right, and those that there are.
    """

    range = (0.0, 1.0)

    def sums(self, logits: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
        right = logits.argmax(dim=-1) == y
        there = torch.ones_like(right) if weights is None else weights > 0
        return torch.stack([(right & there).sum(dim=-1), there.sum(dim=-1)], dim=-1)

    def value(self, sums: Tensor, weight: Tensor) -> Tensor:
        return sums[:, 0] / sums[:, 1]

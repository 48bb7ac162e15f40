"""Balanced accuracy: the mean over classes of recall, the share of a class that is found. Small classes count like large ones."""

import torch
from torch import Tensor

from chebnet2d.training.metrics.metric import SumMetric, register_metric


@register_metric("balanced_accuracy")
class BalancedAccuracy(SumMetric):
    """A class without nodes has no recall, and is left out. The sums are R x 2C: per class what is right, and what there is."""

    range = (0.0, 1.0)

    def sums(self, logits: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
        right = logits.argmax(dim=-1) == y
        there = torch.ones_like(right, dtype=torch.float64) if weights is None else weights.double()
        classes = y.clamp(min=0).expand_as(right)  # rows without a label have weight zero, and need a class all the same
        none = there.new_zeros(right.shape[0], logits.shape[-1])
        return torch.cat([none.scatter_add(1, classes, there * right), none.scatter_add(1, classes, there)], dim=1)

    def value(self, sums: Tensor, weight: Tensor) -> Tensor:
        right, there = sums.chunk(2, dim=1)
        return (right / there).nanmean(dim=1)

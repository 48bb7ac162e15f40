"""What F1 scores are made of: per class, the weight of nodes that are found, predicted and there."""

import torch
from torch import Tensor


def class_counts(logits: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
    """R x 3C sums in float64: right answers, predictions and labels of each class."""
    predicted = logits.argmax(dim=-1)
    counts = torch.ones_like(predicted, dtype=torch.float64) if weights is None else weights.double()
    labels = y.clamp(min=0).expand_as(predicted)  # rows without a label have weight zero, and need a class all the same
    none = counts.new_zeros(predicted.shape[0], logits.shape[-1])
    right = none.scatter_add(1, labels, counts * (predicted == y))
    return torch.cat([right, none.scatter_add(1, predicted, counts), none.scatter_add(1, labels, counts)], dim=1)


def f1_of(sums: Tensor) -> Tensor:
    """R x C: 2 right / (predicted + there); NaN for a class that is neither predicted nor there."""
    right, predicted, there = sums.chunk(3, dim=1)
    return 2 * right / (predicted + there)

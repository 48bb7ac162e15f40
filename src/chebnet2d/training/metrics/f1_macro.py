"""Macro F1: the mean over classes of F1, which is 0 where a class is never found. Small classes count like large ones."""

from torch import Tensor

from chebnet2d.training.metrics.class_counts import class_counts, f1_of
from chebnet2d.training.metrics.metric import SumMetric, register_metric


@register_metric("f1_macro")
class F1Macro(SumMetric):
    """A class that is neither there nor predicted is left out."""

    title = "macro F1"
    range = (0.0, 1.0)

    def sums(self, logits: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
        return class_counts(logits, y, weights)

    def value(self, sums: Tensor, weight: Tensor) -> Tensor:
        return f1_of(sums).nanmean(dim=1)

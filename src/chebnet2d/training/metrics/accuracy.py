"""Accuracy: the share of nodes whose largest logit is that of their class."""

from torch import Tensor

from chebnet2d.training.metrics.metric import SumMetric, register_metric


@register_metric("accuracy")
class Accuracy(SumMetric):
    def sums(self, logits: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
        right = logits.argmax(dim=-1) == y
        counted = right.double() if weights is None else right.to(weights.dtype) * weights
        return counted.sum(dim=-1, keepdim=True)

    def value(self, sums: Tensor, weight: Tensor) -> Tensor:
        return sums[:, 0] / weight

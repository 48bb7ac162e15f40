"""The mean logarithm of the probability that a model gives to the right class: 0 at best, and it punishes false certainty."""

import math

from torch import Tensor

from chebnet2d.training.loss import negative_log_likelihood
from chebnet2d.training.metrics.metric import SumMetric, register_metric


@register_metric("neg_log_loss")
class NegLogLoss(SumMetric):
    title = "negative log loss"
    labels = False
    range = (-math.inf, 0.0)

    def sums(self, logits: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
        losses = negative_log_likelihood(logits, y).double()
        return -(losses if weights is None else losses * weights).sum(dim=-1, keepdim=True)

    def value(self, sums: Tensor, weight: Tensor) -> Tensor:
        return sums[:, 0] / weight

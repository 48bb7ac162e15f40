"""F1 of the second of two classes: the harmonic mean of its precision and its recall."""

from torch import Tensor

from chebnet2d.training.metrics.class_counts import class_counts, f1_of
from chebnet2d.training.metrics.metric import SumMetric, register_metric


@register_metric("f1")
class F1(SumMetric):
    """0 where the class is neither there nor predicted, as in scikit-learn."""

    title = "F1"
    range = (0.0, 1.0)

    def applies(self, classes: int) -> bool:
        return classes == 2

    def sums(self, logits: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
        return class_counts(logits, y, weights)

    def value(self, sums: Tensor, weight: Tensor) -> Tensor:
        return f1_of(sums)[:, 1].nan_to_num(0.0)

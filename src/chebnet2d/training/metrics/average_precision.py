"""Average precision of the second of two classes: precision at every recall, where one goes down the ranking."""

import numpy as np
from torch import Tensor

from chebnet2d.training.metrics.metric import GatheredMetric, register_metric


@register_metric("average_precision")
class AveragePrecision(GatheredMetric):
    """sum_n (R_n - R_(n-1)) P_n over the distinct scores; NaN where the class is absent."""

    range = (0.0, 1.0)
    labels = False

    def applies(self, classes: int) -> bool:
        return classes == 2

    def score(self, logits: Tensor, y: Tensor) -> float:
        margin = (logits[:, 1] - logits[:, 0]).double().numpy()
        positive = (y == 1).numpy()
        if not positive.any():
            return float("nan")
        order = np.argsort(-margin, kind="stable")
        found = np.cumsum(positive[order])
        last = np.append(np.flatnonzero(np.diff(margin[order])), margin.size - 1)  # equal scores are taken together
        precision, recall = found[last] / (last + 1), found[last] / found[-1]
        return float((np.diff(recall, prepend=0.0) * precision).sum())

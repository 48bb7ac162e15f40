"""Area under the ROC curve of two classes."""

from typing import Any

import scipy.stats
from torch import Tensor

from chebnet2d.training.metrics.metric import GatheredMetric, register_metric


@register_metric("roc_auc")
class RocAuc(GatheredMetric):
    """By ranks; ties count half. NaN where one of the classes is absent: there is no curve then."""

    title = "ROC-AUC"
    range = (0.0, 1.0)
    labels = False

    def applies(self, classes: int) -> bool:
        return classes == 2

    def score(self, logits: Tensor, y: Tensor) -> float:
        return area((logits[:, 1] - logits[:, 0]).double().numpy(), (y == 1).numpy())


def area(scores: Any, positive: Any) -> float:
    """The share of pairs of a positive and another node that the scores put in order; NaN where there is no pair."""
    count = int(positive.sum())
    pairs = count * (positive.size - count)
    if pairs == 0:
        return float("nan")
    ranks = scipy.stats.rankdata(scores)
    return float((ranks[positive].sum() - count * (count + 1) / 2) / pairs)

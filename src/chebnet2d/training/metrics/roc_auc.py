"""Area under the ROC curve of two classes."""

import scipy.stats
from torch import Tensor

from chebnet2d.training.metrics.metric import GatheredMetric, register_metric


@register_metric("roc_auc")
class RocAuc(GatheredMetric):
    """By ranks; ties count half. NaN where one of the classes is absent: there is no curve then."""

    title = "ROC-AUC"

    def applies(self, classes: int) -> bool:
        return classes == 2

    def score(self, logits: Tensor, y: Tensor) -> float:
        margin = (logits[:, 1] - logits[:, 0]).double().numpy()
        positive = (y == 1).numpy()
        count = int(positive.sum())
        pairs = count * (positive.size - count)
        if pairs == 0:
            return float("nan")
        ranks = scipy.stats.rankdata(margin)
        return float((ranks[positive].sum() - count * (count + 1) / 2) / pairs)

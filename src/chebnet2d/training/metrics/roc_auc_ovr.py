"""Area under the ROC curve of each class against all others, averaged over the classes that are there."""

from torch import Tensor

from chebnet2d.training.metrics.metric import GatheredMetric, register_metric
from chebnet2d.training.metrics.roc_auc import area


@register_metric("roc_auc_ovr")
class RocAucOvr(GatheredMetric):
    """NaN where there are no two classes."""

    title = "ROC-AUC, one against the rest"
    range = (0.0, 1.0)
    labels = False

    def score(self, logits: Tensor, y: Tensor) -> float:
        probabilities = logits.double().softmax(dim=1).numpy()
        present = y.unique().tolist()
        if len(present) < 2:
            return float("nan")
        return sum(area(probabilities[:, c], (y == c).numpy()) for c in present) / len(present)

"""Sets of labels that hold the true one with a given probability, in words."""

from collections.abc import Sequence

from chebnet2d._checks import InputError
from chebnet2d.models import NodeClassifier, OnBases, Prediction
from chebnet2d.models.label_sets import LabelSets


def label_sets_of(model: NodeClassifier | OnBases) -> LabelSets:
    if model.label_sets is None:
        hint = "`chebnet2d train` and `auto` save what they need; in Python, call training.calibrate(result, data) after fit."
        raise InputError("predict", "coverage", "of a model that is calibrated", got="one that is not", hint=hint)
    return model.label_sets


def guarantee(model: NodeClassifier | OnBases, coverage: float, *, moved: bool) -> str:
    """What may be expected of the sets. ``moved``: the graph is another one than the model was trained on."""
    gone = " This graph differs from that one: whether its nodes are exchangeable with them is not known." if moved else ""
    return f"{label_sets_of(model).sentence(coverage)}.{gone}"


def words_of_sets(
    model: NodeClassifier | OnBases, prediction: Prediction, coverage: float, names: Sequence[str]
) -> list[list[str]]:
    """The words of each node's set, the most probable first."""
    inside = label_sets_of(model).sets(prediction.probabilities, prediction.labels, coverage)
    order = prediction.probabilities.argsort(dim=1, descending=True, stable=True)
    ranked = inside.gather(1, order).tolist()
    return [[names[c] for c, there in zip(*row, strict=True) if there] for row in zip(order.tolist(), ranked, strict=True)]

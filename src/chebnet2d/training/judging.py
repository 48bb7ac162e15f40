"""A trained model judged once more: what comes from its validation nodes, then the report on its test nodes."""

from typing import Any

from torch import Tensor

from chebnet2d.bases import Bases
from chebnet2d.models import NodeClassifier, OnBases, Prediction
from chebnet2d.models.label_sets import VALIDATION, LabelSets
from chebnet2d.training.calibration import fit_temperature
from chebnet2d.training.report import Report
from chebnet2d.training.run import Result
from chebnet2d.training.threshold import choose_threshold


def calibrate(result: Result, data: Any) -> Prediction:
    """The model of a run gets temperature, threshold and label sets from its validation nodes. Returns its answers to all nodes.

    ``data``: the prepared graph that the model was trained on, or the bases.
    """
    model, y, val = result.model, _labels(data), _places(data, result.split.val)
    assert isinstance(model, NodeClassifier | OnBases)
    model.threshold = model.temperature = None
    logits = model.predict(data).probabilities.double().clamp(min=1e-300).log().cpu()
    if not bool(logits.isfinite().all()):  # it has diverged: there is nothing to calibrate
        return Prediction.of_answers([logits])
    model.temperature = fit_temperature(logits[val], y[val])
    model.threshold = choose_threshold(logits[val] / model.temperature, y[val], result.metric)
    prediction = Prediction.of_answers([logits], model.threshold, model.temperature)
    model.label_sets = LabelSets.of(prediction.probabilities[val], y[val], VALIDATION)
    return prediction


def judge(result: Result, data: Any) -> Report | None:
    """The report on the test nodes of a run, whose model is calibrated; None where there are no test nodes."""
    prediction, test = calibrate(result, data), _places(data, result.split.test)
    if test.numel() == 0:
        return None
    model = result.model
    assert isinstance(model, NodeClassifier | OnBases)
    names = None if isinstance(data, Bases) else data.get("class_names")
    if names is None and model.preparation is not None:
        names = model.preparation.class_names
    return Report.of(prediction.labels[test], prediction.probabilities[test], _labels(data)[test], names, model.label_sets)


def _labels(data: Any) -> Tensor:
    """Of the nodes of a graph, or of the stored ones."""
    labels = data.labels if isinstance(data, Bases) else data.y.cpu()
    assert isinstance(labels, Tensor)  # who trains has labels
    return labels


def _places(data: Any, nodes: Tensor) -> Tensor:
    return data.positions(nodes.cpu()) if isinstance(data, Bases) else nodes.cpu()

"""A trained model judged once more: what comes from its validation nodes, then the report on its test nodes."""

from typing import Any

import torch
from torch import Tensor

from chebnet2d.bases import Bases
from chebnet2d.models import NodeClassifier, OnBases, Prediction
from chebnet2d.models.label_sets import VALIDATION, LabelSets
from chebnet2d.training.calibration import fit_temperature
from chebnet2d.training.report import Report
from chebnet2d.training.run import Result
from chebnet2d.training.threshold import choose_threshold


def calibrate(result: Result, data: Any) -> None:
    """The model of a run gets temperature, threshold and label sets from its validation nodes.

    ``data``: the prepared graph that the model was trained on, or the bases.
    """
    val = _places(data, result.split.val)
    _calibrate(result, _answers(result, data, val), _labels(data)[val])


def judge(result: Result, data: Any) -> Report | None:
    """The report on the test nodes of a run, whose model is calibrated; None where there are no test nodes."""
    val, test = _places(data, result.split.val), _places(data, result.split.test)
    answers = _answers(result, data, torch.cat([val, test]))
    _calibrate(result, answers[: val.numel()], _labels(data)[val])
    if test.numel() == 0:
        return None
    model = result.model
    assert isinstance(model, NodeClassifier | OnBases)
    names = None if isinstance(data, Bases) else data.get("class_names")
    if names is None and model.preparation is not None:
        names = model.preparation.class_names
    prediction = Prediction.of_answers([answers[val.numel() :]], model.threshold, model.temperature)
    return Report.of(prediction.labels, prediction.probabilities, _labels(data)[test], names, model.label_sets)


def _calibrate(result: Result, answers: Tensor, y: Tensor) -> None:
    model = result.model
    assert isinstance(model, NodeClassifier | OnBases)
    if not bool(answers.isfinite().all()):  # it has diverged: there is nothing to calibrate
        return
    model.temperature = fit_temperature(answers, y)
    model.threshold = choose_threshold(answers / model.temperature, y, result.metric)
    found = Prediction.of_answers([answers], model.threshold, model.temperature)
    model.label_sets = LabelSets.of(found.probabilities, y, VALIDATION)


def _answers(result: Result, data: Any, places: Tensor) -> Tensor:
    """Logarithms of the probabilities of some nodes, without temperature and threshold. Of bases no others are computed."""
    model = result.model
    assert isinstance(model, NodeClassifier | OnBases)
    model.threshold = model.temperature = None
    if isinstance(data, Bases):
        assert isinstance(model, OnBases)
        found = model.predict(data, positions=places).probabilities
    else:
        found = model.predict(data).probabilities[places]
    return found.double().clamp_(min=1e-300).log_().cpu()


def _labels(data: Any) -> Tensor:
    """Of the nodes of a graph, or of the stored ones."""
    labels = data.labels if isinstance(data, Bases) else data.y.cpu()
    assert isinstance(labels, Tensor)  # who trains has labels
    return labels


def _places(data: Any, nodes: Tensor) -> Tensor:
    return data.positions(nodes.cpu()) if isinstance(data, Bases) else nodes.cpu()

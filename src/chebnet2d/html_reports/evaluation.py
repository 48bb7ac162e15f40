"""How a model does on the nodes of a graph that it has not seen the labels of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from chebnet2d._checks import InputError
from chebnet2d.models import NodeClassifier, OnBases
from chebnet2d.predictions import predicted
from chebnet2d.training.calibration_bins import Calibration
from chebnet2d.training.report import Report

UNSEEN = ("test", "new")


@dataclass(frozen=True)
class Mistake:
    """``given``: the label that the node has. ``confidence``: the probability of the class that it got instead."""

    node: Any
    given: str
    predicted: str
    confidence: float
    given_probability: float


@dataclass(frozen=True)
class Evaluation:
    """``nodes``: which they are, in words. ``mistakes``: the most confident first."""

    nodes: str
    report: Report
    calibration: Calibration
    mistakes: Sequence[Mistake]


def evaluate(model: NodeClassifier | OnBases, source: Any) -> Evaluation:
    """On test and new nodes; where there are none, on others that were not trained on, which the words say."""
    table, _ = predicted(model, source)
    if "given_label" not in table.column_names:
        raise InputError("report", "the graph", "labels to judge the model by", got="none", verb="have")
    classes = [name.removeprefix("probability_") for name in table.column_names if name.startswith("probability_")]
    places = {name: c for c, name in enumerate(classes)}
    given = [places.get(word, -1) for word in table.column("given_label").to_pylist()]
    chosen, words = _chosen(table.column("part").to_pylist() if "part" in table.column_names else None, given)
    if not chosen:
        got = "nodes that were trained on, or with other labels"
        raise InputError("report", "the graph", "labelled nodes to judge the model by", got=got, verb="have")
    y = torch.tensor([given[i] for i in chosen])
    labels = torch.tensor([places[word] for word in table.column("label").take(chosen).to_pylist()])
    columns = [torch.from_numpy(table.column(f"probability_{name}").to_numpy().copy()) for name in classes]
    probabilities = torch.stack(columns, dim=1)[chosen].double()
    ids = table.column("node").take(chosen).to_pylist()
    confidence = probabilities.gather(1, labels[:, None]).squeeze(1)
    wrong = [i for i in confidence.argsort(descending=True, stable=True).tolist() if labels[i] != y[i]]
    mistakes = [
        Mistake(ids[i], classes[int(y[i])], classes[int(labels[i])], float(confidence[i]), float(probabilities[i, y[i]]))
        for i in wrong
    ]
    report = Report.of(labels, probabilities, y, classes)
    return Evaluation(words, report, Calibration.of(confidence.tolist(), (labels == y).tolist()), mistakes)


def _chosen(parts: Sequence[str | None] | None, given: Sequence[int]) -> tuple[list[int], str]:
    """Rows of the nodes to judge by, and which they are."""
    labelled = [i for i, label in enumerate(given) if label >= 0]
    if parts is None:
        return labelled, "all labelled nodes; which of them the model was trained on is not known"
    unseen = [i for i in labelled if parts[i] in UNSEEN]
    if unseen:
        test, new = (sum(parts[i] == word for i in unseen) for word in UNSEEN)
        told = [f"{test:,} test nodes" if test else "", f"{new:,} labelled nodes that are new since the training" if new else ""]
        return unseen, " and ".join(word for word in told if word)
    rest = [i for i in labelled if parts[i] is None]
    if rest:
        return rest, f"{len(rest):,} labelled nodes that were in no part of the split"
    val = [i for i in labelled if parts[i] == "val"]
    return val, f"{len(val):,} validation nodes, which the best epoch was chosen by: there are no test nodes"

"""How a trained model does on each class: precision, recall, F1, support and the confusion matrix, beside the majority's rate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from chebnet2d.models.label_sets import LabelSets
from chebnet2d.training.batches import Batch
from chebnet2d.training.calibration import brier_score, calibration_error
from chebnet2d.training.metrics import Meter
from chebnet2d.training.metrics.metric import metrics_for

COVERAGE = 0.9
"""Of the label sets that a report looks at."""


@dataclass(frozen=True)
class Report:
    """``confusion[t][p]``: nodes of class t that are predicted as class p. ``scores``: all metrics, by the model's labels.

    ``calibration``: what probabilities are worth: ``expected_calibration_error`` and ``brier_score``; where the model has label
    sets, the share of those with a ``coverage`` of 0.9 that held the true label, and their mean size.
    """

    classes: Sequence[str]
    confusion: Sequence[Sequence[int]]
    majority: float
    scores: dict[str, float]
    calibration: dict[str, float]

    @classmethod
    def of(
        cls,
        labels: Tensor,
        probabilities: Tensor,
        y: Tensor,
        class_names: Sequence[str] | None = None,
        label_sets: LabelSets | None = None,
    ) -> "Report":
        """From predicted labels, N x C probabilities and true labels of the same nodes."""
        count = probabilities.shape[1]
        confusion = torch.bincount(y * count + labels, minlength=count * count).view(count, count)
        names = [str(name) for name in class_names or range(count)]
        logits = probabilities.double().clamp(min=1e-300).log()
        # Metrics of labels follow the model's labels, those of rankings its probabilities.
        chosen = torch.nn.functional.one_hot(labels, count).double() * 1e3
        by_label = [metric for metric in metrics_for(count) if metric.labels]
        by_chance = [metric for metric in metrics_for(count) if not metric.labels]
        scores: dict[str, float] = {}
        for metrics, answers in ((by_label, chosen), (by_chance, logits)):
            meter = Meter(metrics)
            meter.add(answers.unsqueeze(0), Batch((), y))
            scores |= {name: values[0] for name, values in meter.scores().items()}
        majority = float(confusion.sum(dim=1).max()) / max(int(confusion.sum()), 1)
        calibration = {
            "expected_calibration_error": calibration_error(probabilities, labels, y),
            "brier_score": brier_score(probabilities, y),
        }
        if label_sets is not None:
            sets = label_sets.sets(probabilities, labels, COVERAGE)
            covered = sets.gather(1, y.view(-1, 1)).double().mean()
            calibration |= {"coverage": COVERAGE, "covered": float(covered), "set_size": float(sets.sum(dim=1).double().mean())}
        return cls(names, confusion.tolist(), majority, scores, calibration)

    def rows(self) -> list[dict[str, Any]]:
        """One per class; a share of nothing is 0."""
        right = [row[c] for c, row in enumerate(self.confusion)]
        there = [sum(row) for row in self.confusion]
        predicted = [sum(row[c] for row in self.confusion) for c in range(len(self.classes))]
        return [
            {
                "class": name,
                "precision": _share(right[c], predicted[c]),
                "recall": _share(right[c], there[c]),
                "f1": _share(2 * right[c], predicted[c] + there[c]),
                "support": there[c],
            }
            for c, name in enumerate(self.classes)
        ]

    def to_json(self) -> dict[str, Any]:
        scores = {name: value if math.isfinite(value) else None for name, value in self.scores.items()}
        table = {"classes": self.rows(), "confusion": [list(row) for row in self.confusion]}
        return {"majority": self.majority, "scores": scores, "calibration": self.calibration, **table}


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0

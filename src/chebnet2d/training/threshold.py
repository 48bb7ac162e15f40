"""Of two classes: from which probability a node gets the second label, chosen on the validation nodes."""

import torch
from torch import Tensor

from chebnet2d.training.batches import Batch
from chebnet2d.training.metrics import METRICS, Meter, find_metric

_CANDIDATES = 199
FOR_RANKINGS = "f1_macro"
"""Decides for metrics that look at no labels, such as an area under a curve."""


def choose_threshold(logits: Tensor, y: Tensor, metric: str) -> float | None:
    """The threshold with the best metric, the nearest to one half among equals; None where one half is the best.

    Accuracy has none: one half is what the loss aims at, and a few validation nodes would only add noise.

    Args:
        logits: V x 2, of the validation nodes.
        y: their labels.
    """
    if metric == "accuracy" or logits.shape[-1] != 2 or y.unique().numel() < 2:
        return None
    judge = find_metric(metric if METRICS[metric].labels else FOR_RANKINGS)
    chances = logits.double().softmax(dim=1)[:, 1]
    levels = torch.quantile(chances, torch.linspace(0, 1, _CANDIDATES + 2, dtype=torch.float64)).unique()
    middles = ((levels[1:] + levels[:-1]) / 2).clamp(1e-6, 1 - 1e-6)
    candidates = torch.cat([torch.tensor([0.5], dtype=torch.float64), middles[(middles - 0.5).abs().argsort()]])
    meter = Meter([judge])
    meter.add(with_threshold(logits.double().unsqueeze(0), candidates), Batch((), y))
    scores = torch.tensor(meter.scores()[judge.name])
    best = int(scores.argmax())  # the first of equals, which is the nearest to one half
    return None if best == 0 else float(candidates[best])


def with_threshold(logits: Tensor, thresholds: Tensor) -> Tensor:
    """R x V x 2 logits whose larger entry is the label by each of R thresholds."""
    shift = torch.log((1 - thresholds) / thresholds).view(-1, 1)
    return torch.stack([logits[..., 0].expand(len(thresholds), -1), logits[..., 1] + shift], dim=-1)

"""Probabilities that mean what they say: a temperature, and how far they are from the shares of right labels."""

import math

import torch
from torch import Tensor

from chebnet2d.training.calibration_bins import BINS, Calibration

LOWEST, HIGHEST = 0.05, 20.0
"""Temperatures beyond these say that there is something else wrong with a model."""
_STEPS = 60


def fit_temperature(logits: Tensor, y: Tensor) -> float:
    """T > 0 for which softmax(logits / T) gives the labels the largest likelihood (Guo et al. 2017).

    With b = 1 / T it minimises sum_n -log softmax(b logits_n)[y_n] + (b - 1)^2 / 2, a convex function of b whose derivative is
    halved in on. The last term counts as much as about one node: a few nodes that are all right do not make a model certain.

    Args:
        logits: n x C, of nodes that the model was not trained on.
        y: their labels.
    """
    logits = logits.double()
    own = logits.gather(1, y.view(-1, 1)).sum()

    def slope(b: float) -> float:
        return float(((b * logits).softmax(dim=1) * logits).sum() - own) + b - 1

    low, high = 1 / HIGHEST, 1 / LOWEST
    if slope(low) >= 0 or slope(high) <= 0:
        return HIGHEST if slope(low) >= 0 else LOWEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return 2 / (low + high)


def calibration_error(probabilities: Tensor, labels: Tensor, y: Tensor, bins: int = BINS) -> float:
    """The expected calibration error: nodes in bins of equal width by the probability of their predicted label; in each, how far
    the mean probability is from the share of right labels; the mean over nodes. 0 is the best, 1 the worst; NaN for a model that
    has diverged."""
    if not bool(probabilities.isfinite().all()):
        return math.nan
    chances = probabilities.double().gather(1, labels.view(-1, 1)).squeeze(1)
    return Calibration.of(chances.tolist(), (labels == y).tolist(), bins).error


def brier_score(probabilities: Tensor, y: Tensor) -> float:
    """The mean squared distance of probabilities from the right answer: of two classes that of the second one's, from 0 to 1; of
    more the sum over classes, from 0 to 2."""
    classes = probabilities.shape[1]
    squares = (probabilities.double() - torch.nn.functional.one_hot(y, classes)).square().sum(dim=1)
    return float(squares.mean()) / (2 if classes == 2 else 1)

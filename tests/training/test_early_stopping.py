"""Which epoch is the best, numbers that are none included."""

import math

import pytest
from torch import nn

from chebnet2d.training import Run, Settings
from chebnet2d.training.early_stopping import EarlyStopping


def best_epoch(epochs, monitor="accuracy"):
    stopper = EarlyStopping(Run(nn.Linear(1, 1), None, 0, Settings.of(monitor=monitor)))
    for number, (loss, metric) in enumerate(epochs, start=1):
        stopper.update(number, 0.0, loss, metric, dict)
    return stopper.best_epoch


@pytest.mark.parametrize(
    ("epochs", "monitor", "best"),
    [
        ([(1.0, 0.5), (0.9, 0.6), (0.8, 0.6), (0.9, 0.6)], "accuracy", 3),  # ties go to the lower loss
        ([(1.0, 0.5), (0.9, 0.4), (1.1, 0.3)], "loss", 2),
        ([(math.nan, math.nan), (1.0, 0.5), (math.nan, math.nan)], "accuracy", 2),
        ([(math.nan, 0.5), (1.0, 0.5), (math.nan, 0.5)], "accuracy", 2),
        ([(math.nan, 0.5), (1.0, 0.1), (2.0, 0.9)], "loss", 2),
        ([(math.nan, math.nan), (math.nan, math.nan)], "accuracy", 1),
    ],
)
def test_best_epoch(epochs, monitor, best):
    assert best_epoch(epochs, monitor) == best

"""GPR-GNN against dense powers, and its starts."""

import numpy as np
import pytest

from chebnet2d import models
from dense_graph import F_IN, C, close, filter_input, numpy, ready


def test_gprgnn_is_a_sum_of_powers(dense):
    model = ready(models.GPRGNN(F_IN, C, 5, degree=6))
    gamma = numpy(model.conv.paradigm.theta)
    z = sum(gamma[k] * np.linalg.matrix_power(dense.p_loops, k) for k in range(7))
    close(model(*dense.inputs), z @ filter_input(model, dense))


@pytest.mark.parametrize(
    ("init", "alpha", "expected"),
    [
        ("ppr", 0.1, [0.1, 0.09, 0.081, 0.729]),
        ("ppr", 1.0, [1, 0, 0, 0]),
        ("ppr", 0.0, [0, 0, 0, 1]),
        ("nppr", 0.5, [8 / 15, 4 / 15, 2 / 15, 1 / 15]),
        ("sgc", 2, [0, 0, 1, 0]),
    ],
)
def test_gprgnn_starts(init, alpha, expected):
    theta = models.GPRGNN(F_IN, C, degree=3, init=init, alpha=alpha).conv.paradigm.theta
    np.testing.assert_allclose(numpy(theta), expected, atol=1e-7)
    assert models.GPRGNN(F_IN, C, degree=3, init="random").conv.paradigm.theta.abs().sum().item() == pytest.approx(1)

"""SpecGN against dense powers and one filter with one map."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.special
import scipy.stats
import torch

from chebnet2d import InputError, models
from chebnet2d.models import specgn
from dense_graph import F_IN, C, N, close, filter_input, numpy, ready


@pytest.mark.parametrize(("operator", "epsilon"), [("eps", -0.5), ("eps", -0.2), ("rho", 0.25), ("rho", 0.5)])
def test_specgn_against_dense_powers(dense, operator, epsilon):
    model = ready(models.SpecGN(F_IN, C, 5, degree=3, operator=operator, epsilon=epsilon, num_layers=2))
    loops = dense.a + np.eye(N)
    if operator == "eps":
        s = np.diag(loops.sum(1) ** epsilon) @ loops @ np.diag(loops.sum(1) ** epsilon)
    else:
        s = np.real(scipy.linalg.fractional_matrix_power(loops @ loops, epsilon / 2)) @ scipy.linalg.signm(loops)
    z = numpy(model.opening(dense.x))
    for conv in model.convs:
        theta = numpy(conv.paradigm.theta)
        z = np.maximum(sum(np.linalg.matrix_power(s, k) @ z * theta[k] for k in range(4)), 0)
    close(model(*dense.inputs), numpy(model.closing(torch.from_numpy(z))), atol=1e-8)


def test_unified_specgn_is_one_filter_and_one_map(dense):
    model = ready(models.SpecGN(F_IN, C, 5, degree=4, variant="unified"))
    theta, r = numpy(model.conv.paradigm.theta), numpy(model.conv.paradigm.weight)
    filtered = sum(theta[k] * np.linalg.matrix_power(dense.p_loops, k) for k in range(5))
    close(model(*dense.inputs), filtered @ filter_input(model, dense) @ r)


def test_the_spread_spectrum_is_for_small_graphs(monkeypatch, dense):
    monkeypatch.setattr(specgn, "LARGEST_EXACT", 10)
    with pytest.raises(InputError, match="operator must be 'eps' above 10 nodes, got 'rho' with 17"):
        models.SpecGN(F_IN, C, operator="rho").double()(*dense.inputs)

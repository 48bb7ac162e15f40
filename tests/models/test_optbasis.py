"""OptBasisGNN against a QR decomposition of the Krylov matrix."""

import numpy as np
import pytest
import torch

from chebnet2d import models
from dense_graph import F_IN, C, close, filter_input, numpy, ready


@pytest.mark.parametrize("coefficients", ["channel", "shared"])
def test_optbasis_against_qr_of_the_krylov_matrix(dense, coefficients):
    model = ready(models.OptBasis(F_IN, C, 5, degree=4, coefficients=coefficients, variant="unified"))
    h = filter_input(model, dense)
    alpha = np.broadcast_to(numpy(model.conv.paradigm.theta).reshape(5, -1), (5, C))
    expected = np.empty_like(h)
    for c in range(C):
        krylov = np.stack([np.linalg.matrix_power(dense.p, k) @ h[:, c] for k in range(5)], axis=1)
        q, r = np.linalg.qr(krylov)
        expected[:, c] = (q * np.sign(np.diag(r))) @ alpha[:, c]
    close(model(*dense.inputs), expected)


def test_optbasis_survives_dead_channels(dense):
    model = models.OptBasis(F_IN, C, 5, degree=3).double().train()
    with torch.no_grad():
        model.mlp[1].bias[:2] = -1e3  # two hidden units that are 0 everywhere
    model(*dense.inputs).sum().backward()
    assert all(bool(torch.isfinite(parameter.grad).all()) for parameter in model.parameters())

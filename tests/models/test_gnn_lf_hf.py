"""GNN-LF and GNN-HF against dense inverses."""

import numpy as np
import pytest
import torch

from chebnet2d import models
from dense_graph import F_IN, C, N, close, filter_input, numpy, ready


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
def test_gnn_lf_closed_form_is_its_dense_inverse(dense, alpha):
    model = ready(models.GNNLF(F_IN, C, 5, alpha=alpha, mu=0.7, form="closed"))
    eye, p, mu = np.eye(N), dense.p_loops, 0.7
    inverse = np.linalg.inv((1 + alpha * mu - alpha) * eye + (2 * alpha - alpha * mu - 1) * p)
    close(model(*dense.inputs), alpha * inverse @ (mu * eye + (1 - mu) * p) @ filter_input(model, dense))


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
def test_gnn_hf_closed_form_is_its_dense_inverse(dense, alpha):
    model = ready(models.GNNHF(F_IN, C, 5, alpha=alpha, beta=1.3, form="closed"))
    eye, p, beta = np.eye(N), dense.p_loops, 1.3
    inverse = np.linalg.inv(alpha * eye + (alpha * beta + 1 - alpha) * (eye - p))
    close(model(*dense.inputs), alpha * inverse @ (eye + beta * (eye - p)) @ filter_input(model, dense))


@pytest.mark.parametrize("method", [models.GNNLF, models.GNNHF])
@pytest.mark.parametrize("variant", ["faithful", "unified"])
def test_gnn_lf_hf_iteration_tends_to_the_closed_form(dense, method, variant):
    torch.manual_seed(1)
    closed = ready(method(F_IN, C, 5, alpha=0.2, form="closed", variant=variant))
    iterated = method(F_IN, C, 5, alpha=0.2, steps=200, variant=variant).double().eval()
    iterated.load_state_dict(closed.state_dict())
    close(iterated(*dense.inputs), numpy(closed(*dense.inputs)))
    assert ("mlp.layers.0.bias" in closed.state_dict()) == (variant == "unified")

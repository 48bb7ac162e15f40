"""GloGNN++ against its published vectors and the dense minimiser."""

import numpy as np
import pytest
import torch

from chebnet2d._checks import InputError
from chebnet2d.graph import operator_of
from chebnet2d.models import GloGNN
from example_graphs import graph
from oracle_vectors import check_vector, read_vector
from randomised_model import randomised


@pytest.mark.parametrize("form", ["small", "large"])
def test_glognn_reproduces_the_published_vector(form):
    vector = read_vector(f"glognn_{form}")
    settings = {key: vector.config[key] for key in ("alpha", "beta", "gamma", "delta", "orders")}
    model = GloGNN(12, 4, num_nodes=30, hidden_channels=8, num_layers=vector.config["norm_layers"], form=form, **settings)
    names = {"mixing.channel_weight": lambda a: a["diag_weight"][:, 0], "mixing.order_weight": lambda a: a["orders_weight"][:, 0]}
    layers = {"of_features": "fc1", "last": "fc2", "of_links": "fc3" if form == "small" else "fc4"}
    if form == "large":
        layers["middle"] = "fc3"
    for ours, theirs in layers.items():
        names |= {f"{ours}.weight": f"{theirs}.weight.T", f"{ours}.bias": f"{theirs}.bias"}
    check_vector(model, vector, names)


@pytest.mark.parametrize("form", ["small", "large"])
@pytest.mark.parametrize(("alpha", "beta", "gamma"), [(1.0, 0.5, 0.4), (0.0, 2e4, 0.5), (10.0, 0.1, 0.0), (1.0, 1.0, 1.0)])
def test_glognn_mixing_is_the_dense_minimiser(form, alpha, beta, gamma):
    """Z = ((1 - g) ...) solved as one N x N system in numpy, and its objective has no smaller value nearby."""
    edge_index, weight, nodes, x = graph()
    model = randomised(GloGNN(6, 3, num_nodes=nodes, orders=2, alpha=alpha, beta=beta, gamma=gamma, form=form))
    mixing = model.mixing
    hidden, start = torch.randn(2, nodes, 3, dtype=torch.float64)
    operator = operator_of(edge_index, weight, x, kind="A" if form == "large" else "D~^-1 A~", owner="t")
    found = mixing(hidden, start, operator).detach().numpy()

    h, h0, b = hidden.numpy(), start.numpy(), operator.to_dense().numpy()
    channel, order = mixing.channel_weight.detach().numpy(), mixing.order_weight.detach().numpy()
    prior = order[0] * b + order[1] * b @ b
    g = 1 - gamma
    target = (h - gamma * h0) * channel
    z = (g * target @ h.T + beta * prior) @ np.linalg.inv((alpha + beta) * np.eye(nodes) + g**2 * h @ h.T)
    np.testing.assert_allclose(found, g * (z @ h) * channel + gamma * h0, rtol=1e-9, atol=1e-11)

    def objective(z):
        return ((target - g * z @ h) ** 2).sum() + alpha * (z**2).sum() + beta * ((z - prior) ** 2).sum()

    rng = np.random.default_rng(0)
    for _ in range(5):
        assert objective(z) < objective(z + 0.1 * rng.standard_normal(z.shape))


def test_glognn_uses_only_the_part_that_has_weight_and_refuses_an_ambiguous_minimiser():
    edge_index, weight, nodes, x = graph()
    for delta, unused in ((1.0, "of_links"), (0.0, "of_features")):
        model = GloGNN(6, 3, num_nodes=nodes, delta=delta).double()
        model(x, edge_index, weight).sum().backward()
        assert {name.split(".")[0] for name, p in model.named_parameters() if p.grad is None} == {unused}
    with pytest.raises(InputError, match="GloGNN: alpha \\+ beta must be > 0, got 0: the minimiser would not be unique."):
        GloGNN(6, 3, num_nodes=nodes, alpha=0.0, beta=0.0)

"""PDE-GCN against its published vectors and a loop over edges."""

import numpy as np
import pytest
import torch

from chebnet2d._checks import InputError
from chebnet2d.graph import SparseOperator, operator_of
from chebnet2d.models import PDEGCN
from chebnet2d.models.pdegcn import Flux, edge_gradient
from example_graphs import graph
from oracle_vectors import check_vector, read_vector
from randomised_model import randomised


@pytest.mark.parametrize("edges", [False, True], ids=["linear", "edges"])
@pytest.mark.parametrize("name", ["diffusion", "hyperbolic", "mixed", "mixed_perlayer"])
def test_pdegcn_reproduces_the_published_vector(name, edges):
    """By the shortcut for ReLU without dropout, and by way of the edges (an operator that does not promise to be symmetric)."""
    vector = read_vector(f"pdegcn_{name}")
    dynamics, per_layer = name.split("_")[0], name.endswith("perlayer")
    layers = vector.config["nlayer"]
    model = PDEGCN(12, 4, 8, layers, vector.config["h"], dynamics, per_layer)
    names = {"first.weight": "K1Nopen.T", "last.weight": "KNclose.T"}
    names |= {f"layers.{i}.weight": (lambda a, i=i: a["KN1"][i]) for i in range(layers)}
    if dynamics == "mixed":
        names["mix.logit"] = lambda a: a["alpha"][:, 0]
    if edges:
        p = operator_of(vector.edge_index, None, vector.x, kind="P~", owner="t")
        plain, call = SparseOperator.from_scipy(p.to_scipy(), dtype=torch.float64), model.forward
        model.forward = lambda x, _: call(x, plain)
    check_vector(model, vector, names)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_pdegcn_flux_is_a_loop_over_edges(activation):
    edge_index, weight, nodes, x = graph()
    layer = randomised(Flux(6, 0.5, activation))
    operator = operator_of(edge_index, weight, x, kind="P~", owner="t")
    k, values, w = layer.weight.detach().numpy(), x.numpy(), operator.to_dense().numpy()
    s = {"relu": lambda u: np.maximum(u, 0), "tanh": np.tanh}[activation]
    change = np.zeros_like(values)
    for i in range(nodes):
        for j in range(nodes):  # self loops have no gradient
            flux = w[i, j] * k.T @ s(k @ (w[i, j] * (values[i] - values[j])))
            change[i] += flux
            change[j] -= flux
    np.testing.assert_allclose(layer(x, operator).detach().numpy(), change, atol=1e-12)


def test_pdegcn_drops_gradients_of_edges_and_keeps_their_mean():
    edge_index, weight, _, x = graph()
    layer = Flux(6, 0.5, "relu").double()
    layer.weight.data = torch.eye(6, dtype=torch.float64)  # where K mixes no channels, ReLU(mask u) has the mean ReLU(u)
    operator = operator_of(edge_index, weight, x, kind="P~", owner="t")
    with torch.no_grad():
        exact = layer.eval()(x, operator)
        layer.train()
        draws = torch.stack([layer(x, operator) for _ in range(3000)])
    error = draws.std(dim=0) / len(draws) ** 0.5
    assert bool(((draws.mean(dim=0) - exact).abs() <= 5 * error + 1e-12).all())
    # Each flux is 0 or twice itself: its variance is its square, and those of different edges add up.
    gradient = edge_gradient(operator).to_scipy()
    shares = gradient.power(2).T @ np.maximum(gradient @ x.numpy(), 0) ** 2
    np.testing.assert_allclose(draws.var(dim=0).numpy(), shares, rtol=0.3, atol=1e-12)


def test_pdegcn_says_what_is_wrong():
    with pytest.raises(InputError, match="PDEGCN: step_size must be > 0, got 0."):
        PDEGCN(6, 3, step_size=0.0)
    with pytest.raises(
        InputError, match="PDEGCN: mix_per_layer must be False unless dynamics is 'mixed', got True with 'diffusion'."
    ):
        PDEGCN(6, 3, dynamics="diffusion", mix_per_layer=True)
    with pytest.raises(
        InputError, match="PDEGCN: dynamics must be one of 'diffusion', 'hyperbolic', 'mixed', got 'difusion'.*Did you"
    ):
        PDEGCN(6, 3, dynamics="difusion")


def test_an_operator_without_edges_has_no_flux():
    layer = Flux(4, 0.5, "relu").double()
    x = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    out = layer(x, SparseOperator.from_dense(torch.eye(5, dtype=torch.float64)))
    out.sum().backward()
    assert out.shape == (5, 4)
    assert not out.any()
    assert not x.grad.any()

"""One architecture for all paradigms: the same start, the exact spectral form, and what is known to be the same in function."""

import pytest
import torch

import chebnet2d
from chebnet2d.graph import operator_of
from chebnet2d.models import MODELS, ChebNet2D
from chebnet2d.models.one_filter import COUPLINGS
from chebnet2d.training import initialise_parameters
from example_graphs import weighted
from randomised_model import randomised

N, F, C, H, D = 17, 6, 3, 8, 4
SIZES = {"in_channels": F, "out_channels": C, "hidden_channels": H}
ARMS = [(coupling, place, how) for coupling in COUPLINGS for place in ("logits", "hidden") for how in ("values", "coefficients")]
every_arm = pytest.mark.parametrize(("coupling", "place", "how"), ARMS)


def make(coupling, place="logits", how="values", **options):
    return MODELS["one-filter"](**SIZES, coupling=coupling, place=place, parametrisation=how, degree=D, **options)


@every_arm
def test_every_arm_starts_as_the_mlp(coupling, place, how):
    model, mlp = make(coupling, place, how).double().eval(), MODELS["mlp"](**SIZES).double().eval()
    initialise_parameters(model, 3)
    first, second = (m for m in model.modules() if isinstance(m, chebnet2d.nn.Linear))
    with torch.no_grad():
        for layer, own in zip(mlp.mlp.layers, (first, second), strict=True):
            layer.weight.copy_(own.weight)
            layer.bias.copy_(own.bias)
    x, (edges, weight) = torch.randn(N, F, dtype=torch.float64), weighted(nodes=N)[:2]
    torch.testing.assert_close(model(x, edges, weight), mlp(x, edges), rtol=1e-12, atol=1e-12)


@every_arm
def test_every_arm_is_its_exact_spectral_form(coupling, place, how):
    """U g(lambda) U' by eigendecomposition, with responses that numpy's Chebyshev polynomials give."""
    model = randomised(make(coupling, place, how)).double().eval()
    x, (edges, weight) = torch.randn(N, F, dtype=torch.float64), weighted(nodes=N)[:2]
    operator = operator_of(edges, weight, x, kind="L_hat", owner="test")
    values, vectors = torch.linalg.eigh(operator.to_dense().double())
    linear = [m for m in model.modules() if isinstance(m, chebnet2d.nn.Linear)]
    hidden = (x @ linear[0].weight + linear[0].bias).relu()
    signal = hidden if place == "hidden" else hidden @ linear[1].weight + linear[1].bias
    maps = model.conv.paradigm.maps()  # K x C x C'
    powers = torch.stack([torch.cos(d * torch.arccos(values.clamp(-1, 1))) for d in range(D + 1)])  # T_d(lambda)
    if how == "values":  # the polynomial through the values at the nodes, by solving for it
        nodes = torch.cos((torch.arange(D + 1, dtype=torch.float64) + 0.5) * torch.pi / (D + 1))
        at_nodes = torch.stack([torch.cos(d * torch.arccos(nodes)) for d in range(D + 1)], dim=1)
        maps = torch.linalg.solve(at_nodes, maps.flatten(1)).view_as(maps)
    response = torch.einsum("dn,dcj->ncj", powers, maps)
    filtered = vectors @ torch.einsum("ncj,nc->nj", response, vectors.T @ signal)
    expected = filtered if place == "logits" else filtered @ linear[1].weight + linear[1].bias
    torch.testing.assert_close(model(x, edges, weight), expected, rtol=1e-9, atol=1e-9)


def test_the_full_coupling_on_logits_is_chebnet2d():
    model, other = randomised(make("2d")).double().eval(), ChebNet2D(**SIZES, degree=D).double().eval()
    other.load_state_dict(model.state_dict())
    x, (edges, weight) = torch.randn(N, F, dtype=torch.float64), weighted(nodes=N)[:2]
    torch.testing.assert_close(model(x, edges, weight), other(x, edges, weight), rtol=0, atol=0)


def test_paradigm_ii_on_logits_is_paradigm_i_with_another_last_layer():
    """The MLP ends in a linear layer, which absorbs the map: the two are one class of functions."""
    two, one = randomised(make("II")).double().eval(), make("I").double().eval()
    first, second = (m for m in two.modules() if isinstance(m, chebnet2d.nn.Linear))
    mine = [m for m in one.modules() if isinstance(m, chebnet2d.nn.Linear)]
    with torch.no_grad():
        one.conv.paradigm.theta.copy_(two.conv.paradigm.theta)
        for name in ("weight", "bias"):
            getattr(mine[0], name).copy_(getattr(first, name))
            getattr(mine[1], name).copy_(getattr(second, name) @ two.conv.paradigm.weight)
    x, (edges, weight) = torch.randn(N, F, dtype=torch.float64), weighted(nodes=N)[:2]
    torch.testing.assert_close(one(x, edges, weight), two(x, edges, weight), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("argument", "value"), [("coupling", "IV"), ("place", "input"), ("parametrisation", "roots")])
def test_wrong_arguments(argument, value):
    with pytest.raises(chebnet2d.InputError, match=f"{argument} must be one of"):
        MODELS["one-filter"](**SIZES, **{argument: value})

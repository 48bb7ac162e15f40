"""Spectral convolutions: every paradigm and basis against exact spectra, dense matrices and torch_geometric."""

import pytest
import torch
from torch.autograd import gradcheck
from torch_geometric.nn import ChebConv

import chebnet2d
from chebnet2d.conv import PARADIGMS, ChebConv2D, ExactConv, Full2D, SpectralConv
from chebnet2d.graph import Spectrum, adjacency
from chebnet2d.polynomials import BASES, chebyshev_nodes
from example_graphs import l_hat, weighted

# The example graph lists edges in one direction.
pytestmark = pytest.mark.filterwarnings("ignore::chebnet2d.graph.DirectedGraphWarning")
CASES = [(paradigm, basis) for paradigm in PARADIGMS for basis in BASES]


def make(paradigm, basis="chebyshev", in_channels=4, degree=6, **options):
    out_channels = in_channels if PARADIGMS[paradigm].square else 3
    rank = 2 if paradigm == "rank" else None
    conv = SpectralConv(
        in_channels, out_channels, degree, paradigm=paradigm, rank=rank, basis=basis, init="xavier", bias=True, **options
    )
    torch.nn.init.normal_(conv.bias)
    return conv.double()


@pytest.mark.parametrize(("paradigm", "basis"), CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_fast_equals_exact_in_values_and_gradients(paradigm, basis, seed):
    edge_index, weight, nodes = weighted(seed)
    spectrum = Spectrum.of(l_hat(seed))
    conv = make(paradigm, basis)
    x = torch.randn(nodes, 4, dtype=torch.float64, requires_grad=True)
    fast, exact = conv(x, edge_index, weight), conv.exact(x, spectrum)
    torch.testing.assert_close(fast, exact, rtol=0, atol=1e-10)
    inputs = [x, *conv.parameters()]
    ours = torch.autograd.grad((fast**2).sum(), inputs)
    for gradient, reference in zip(ours, torch.autograd.grad((exact**2).sum(), inputs), strict=True):
        torch.testing.assert_close(gradient, reference, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize(("paradigm", "basis"), CASES)
def test_gradcheck(paradigm, basis):
    conv = make(paradigm, basis, in_channels=3, degree=3)
    operator = l_hat()
    x = torch.randn(17, 3, dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in conv.named_parameters()]

    def function(x, *params):
        return torch.func.functional_call(conv, dict(zip(names, params, strict=True)), (x, operator))

    assert gradcheck(function, (x, *conv.parameters()))


@pytest.mark.parametrize("degree", [1, 4, 10])
def test_equals_cheb_conv_of_torch_geometric(degree):
    edge_index, _, nodes = weighted()
    a = adjacency(edge_index, None, nodes)
    row, col = a.to_scipy().nonzero()
    both, weight = torch.tensor([row.tolist(), col.tolist()]), a.values.float()
    theirs = ChebConv(4, 3, K=degree + 1, bias=False)
    ours = SpectralConv(4, 3, degree)
    with torch.no_grad():
        for d, lin in enumerate(theirs.lins):
            ours.paradigm.theta[d] = lin.weight.T
    x = torch.randn(nodes, 4)
    lambda_max = torch.tensor(2.0)
    torch.testing.assert_close(ours(x, both, weight), theirs(x, both, weight, lambda_max=lambda_max), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("paradigm", ["I", "II", "III", "rank"])
def test_paradigms_are_special_cases_of_2d(paradigm, exact):
    """With theta[k, c, j] as the paradigm allows, the 2-D convolution is that paradigm: outputs, by the formulas of the paper."""
    spectrum = Spectrum.of(l_hat())
    x = torch.randn(17, 4, dtype=torch.float64)
    rank = 3 if paradigm == "rank" else None
    if exact:
        special = ExactConv(4, 4, spectrum, paradigm=paradigm, rank=rank, init="xavier")
        general = ExactConv(4, 4, spectrum)
        run = lambda conv: conv(x)
    else:
        special = SpectralConv(4, 4, 5, paradigm=paradigm, rank=rank, init="xavier").double()
        general = SpectralConv(4, 4, 5).double()
        run = lambda conv: conv(x, l_hat())
    p = dict(special.paradigm.named_parameters())
    eye = torch.eye(4, dtype=torch.float64)
    constrained = {
        "I": lambda: torch.einsum("k,cj->kcj", p["theta"], eye),
        "II": lambda: torch.einsum("k,cj->kcj", p["theta"], p["weight"]),
        "III": lambda: torch.einsum("kc,cj->kcj", p["theta"], eye),
        "rank": lambda: sum(torch.einsum("k,cj->kcj", p["filters"][:, i], p["weight"][i]) for i in range(3)),
    }[paradigm]()
    with torch.no_grad():
        general.paradigm.theta.copy_(constrained)
    torch.testing.assert_close(run(special), run(general), rtol=0, atol=1e-12)


def test_rank_of_all_terms_is_the_full_convolution():
    full = SpectralConv(3, 3, 4, init="xavier").double()
    low = SpectralConv(3, 3, 4, paradigm="rank", rank=5).double()
    with torch.no_grad():
        low.paradigm.filters.copy_(torch.eye(5))
        low.paradigm.weight.copy_(full.paradigm.theta)
    x = torch.randn(17, 3, dtype=torch.float64)
    torch.testing.assert_close(low(x, l_hat()), full(x, l_hat()))


def test_exact_conv_with_free_values_against_dense():
    spectrum = Spectrum.of(l_hat())
    conv = ExactConv(3, 2, spectrum, init="xavier")
    x = torch.randn(17, 3, dtype=torch.float64)
    u, theta = spectrum.eigenvectors, conv.paradigm.theta
    expected = torch.stack([sum(u @ torch.diag(theta[:, c, j]) @ u.T @ x[:, c] for c in range(3)) for j in range(2)], dim=1)
    torch.testing.assert_close(conv(x), expected)
    torch.testing.assert_close(conv.response(spectrum.eigenvalues[:5]), theta[:5])
    with pytest.raises(ValueError, match="frequencies must be eigenvalues of the graph, got 0.123"):
        conv.response(torch.tensor([0.123]))


@pytest.mark.parametrize("degree", [0, 1, 2, 10, 16])
def test_response_at_the_nodes_is_theta(degree):
    conv = ChebConv2D(3, 4, degree).double()
    torch.testing.assert_close(conv.response(chebyshev_nodes(degree)), conv.paradigm.theta, rtol=0, atol=1e-12)


def test_printed_scaling_is_off_by_the_known_terms():
    conv = ChebConv2D(2, 2, 4, scaling="paper").double()
    theta = conv.paradigm.theta
    expected = 2.5 * theta + 0.5 * theta.sum(0, keepdim=True)
    torch.testing.assert_close(conv.response(chebyshev_nodes(4)), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("basis", [name for name, basis in BASES.items() if basis.fixed])
@pytest.mark.parametrize("paradigm", list(PARADIGMS))
def test_identity_init_changes_nothing(paradigm, basis):
    rank = 3 if paradigm == "rank" else None
    conv = SpectralConv(4, 4, 6, paradigm=paradigm, rank=rank, basis=basis, init="identity").double()
    x = torch.randn(17, 4, dtype=torch.float64)
    torch.testing.assert_close(conv(x, l_hat()), x, rtol=0, atol=1e-9)


def test_xavier_init_has_the_stated_spread():
    conv = ChebConv2D(64, 64, 20)
    assert conv.paradigm.theta.std().item() == pytest.approx(0.5 * (2 / 128) ** 0.5, rel=0.02)


def test_layer_takes_every_kind_of_graph():
    edge_index, weight, nodes = weighted()
    layer = chebnet2d.nn.ChebConv2D(4, 3, degree=5)
    x = torch.randn(nodes, 4)
    expected = layer(x, edge_index, weight)
    torch.testing.assert_close(layer(x, adjacency(edge_index, weight, nodes).csr), expected)
    torch.testing.assert_close(layer(x, l_hat(dtype=torch.float32)), expected)


def test_parameter_counts():
    count = lambda **options: sum(p.numel() for p in SpectralConv(5, 5, 3, **options).parameters())
    assert count(paradigm="I") == 4
    assert count(paradigm="II") == 4 + 25
    assert count(paradigm="III") == 20
    assert count(paradigm="2d") == 100
    assert count(paradigm="rank", rank=2) == 8 + 50
    assert Full2D(5, 7, 4).theta.shape == (4, 5, 7)


def test_precision_follows_the_module():
    conv = ChebConv2D(3, 3, 10).double()
    assert conv.transform.dtype == torch.float64
    assert conv.float().transform.dtype == torch.float32
    torch.testing.assert_close(
        conv.double().transform @ torch.ones(11, dtype=torch.float64), torch.eye(11).double()[0], rtol=0, atol=1e-14
    )

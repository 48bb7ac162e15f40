"""Edge weights with a gradient: against dense autograd, torch_geometric's ChebConv and its explainers."""

import pytest
import torch
from torch.autograd import gradcheck
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.nn import ChebConv

import chebnet2d
from chebnet2d.conv import PARADIGMS, ChebConv2D, FixedFilter, SpectralConv
from chebnet2d.graph import adjacency, learnable_operator_of, operator_of
from chebnet2d.models import GCN
from example_graphs import graph, weighted
from test_spectral_conv import CASES, make

# The example graph lists edges in one direction.
pytestmark = pytest.mark.filterwarnings("ignore::chebnet2d.graph.DirectedGraphWarning")
NODES = 17
KINDS = ("A", "L_hat", "P", "P~", "D^-1 A", "D~^-1 A~")


def dense(edge_index, weight, kind):
    """The formulas of the operators, by dense matrices and autograd."""
    a = weight.new_zeros(NODES, NODES).index_put((edge_index[0], edge_index[1]), weight, accumulate=True)
    a = a * (1 - torch.eye(NODES, dtype=a.dtype))
    a = torch.maximum(a, a.T)
    if kind == "A":
        return a
    a = a + torch.eye(NODES, dtype=a.dtype) if "~" in kind else a
    degree = a.sum(1)
    alive = degree > 0
    if kind.startswith("D"):
        return a / torch.where(alive, degree, 1.0).unsqueeze(1)
    scale = torch.where(alive, torch.where(alive, degree, 1.0) ** -0.5, 0.0)
    p = scale[:, None] * a * scale
    return -p if kind == "L_hat" else p


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_operator_and_its_gradient_against_dense_autograd(kind, seed):
    """The example has loops, duplicates, edges in one direction, isolated nodes and different weights of the two directions."""
    edge_index, weight, nodes = weighted(seed)
    weight.requires_grad_()
    x = torch.randn(nodes, 3, dtype=torch.float64, requires_grad=True)
    found = learnable_operator_of(edge_index, weight, x, kind=kind, owner="test") @ x
    expected = dense(edge_index, weight, kind) @ x
    torch.testing.assert_close(found, expected)
    direction = torch.randn_like(found)
    for ours, theirs in zip(*(torch.autograd.grad(z, (weight, x), direction) for z in (found, expected)), strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(("paradigm", "basis"), CASES)
def test_a_weight_that_requires_a_gradient_changes_no_value(paradigm, basis):
    edge_index, weight, nodes = weighted()
    conv, x = make(paradigm, basis), torch.randn(nodes, 4, dtype=torch.float64)
    constant = conv(x, edge_index, weight)
    z = conv(x, edge_index, weight.requires_grad_())  # after the first use
    torch.testing.assert_close(z, constant)
    (gradient,) = torch.autograd.grad(z.square().sum(), weight)
    assert gradient.isfinite().all()
    assert gradient.abs().sum() > 0
    with torch.no_grad():
        torch.testing.assert_close(conv(x, edge_index, weight), constant)


@pytest.mark.parametrize("paradigm", list(PARADIGMS))
@pytest.mark.parametrize("operator", ["L_hat", "P", "P~"])
def test_gradcheck(paradigm, operator):
    edge_index, weight, nodes = weighted()  # the two directions of an edge have different weights: where they are equal is a kink
    weight.requires_grad_()
    conv = make(paradigm, in_channels=3, degree=3, operator=operator)
    x = torch.randn(nodes, 3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda w, a: conv(a, edge_index, w), (weight, x))


def test_gradients_of_the_weights_are_those_of_cheb_conv():
    edge_index, _, nodes, _ = graph()
    half = edge_index[:, edge_index[0] < edge_index[1]]
    both, weight = torch.cat([half, half.flip(0)], dim=1), torch.rand(half.shape[1], requires_grad=True)
    theirs, ours = same_layers()
    x = torch.randn(nodes, 4)
    found = ours(x, both, torch.cat([weight, weight]))
    expected = theirs(x, both, torch.cat([weight, weight]), lambda_max=torch.tensor(2.0))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    gradients = [torch.autograd.grad(z.square().sum(), weight)[0] for z in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_the_values_of_a_sparse_graph_have_a_gradient(layout):
    edge_index, weight, nodes, _ = graph()
    order = (edge_index[0] * nodes + edge_index[1]).argsort()
    edge_index, weight = edge_index[:, order], weight[order].requires_grad_()
    sparse = torch.sparse_coo_tensor(edge_index, weight, (nodes, nodes), check_invariants=True).coalesce()
    sparse = sparse if layout == torch.sparse_coo else sparse.to_sparse_csr()
    conv, x = ChebConv2D(4, 3, degree=5).double(), torch.randn(nodes, 4, dtype=torch.float64)
    gradients = [torch.autograd.grad(z.square().sum(), weight)[0] for z in (conv(x, sparse), conv(x, edge_index, weight))]
    torch.testing.assert_close(*gradients)


def test_a_stack_of_weights():
    edge_index, weight, nodes = weighted()
    conv, x = ChebConv2D(4, 3, degree=5).double(), torch.randn(nodes, 4, dtype=torch.float64)
    stack = weight * torch.rand(3, 1, dtype=torch.float64)
    gradient = torch.func.grad(lambda w: conv(x, edge_index, w).square().sum())
    for together, alone in zip(torch.func.vmap(gradient)(stack), map(gradient, stack), strict=True):
        torch.testing.assert_close(together, alone)


def test_fixed_filter_has_the_gradient():
    edge_index, weight, nodes = weighted()
    conv, x = FixedFilter([0.1, 0.5, 0.4]).double(), torch.randn(nodes, 2, dtype=torch.float64)
    assert gradcheck(lambda w: conv(x, edge_index, w), (weight.requires_grad_(),))


def test_methods_that_take_weights_as_constants_say_so_even_after_the_first_use():
    edge_index, weight, nodes = weighted()
    model, x = GCN(3, 2, hidden_channels=2).double(), torch.randn(nodes, 3, dtype=torch.float64)
    model(x, edge_index, weight)
    sentence = r"GCN: edge_weight must not require a gradient: weights are constants here. Pass edge_weight.detach\(\)"
    with pytest.raises(chebnet2d.InputError, match=sentence):
        model(x, edge_index, weight.requires_grad_())
    with torch.no_grad():
        model(x, edge_index, weight)
    with pytest.raises(chebnet2d.InputError, match="test: edge_index must not require a gradient"):
        operator_of(torch.sparse_coo_tensor(edge_index, weight, (nodes, nodes), check_invariants=True), None, x, owner="test")


@pytest.mark.parametrize(("bad", "got"), [(-0.5, "numbers from -0.5"), (torch.nan, "numbers from nan"), (torch.inf, "to inf")])
def test_weights_are_checked(bad, got):
    edge_index, weight, nodes = weighted()
    weight[3] = bad
    with pytest.raises(chebnet2d.InputError, match=f"ChebConv2D: edge_weight must be finite numbers >= 0, got .*{got}"):
        ChebConv2D(2, 2)(torch.randn(nodes, 2), edge_index, weight.requires_grad_())


# ---- explanations ---------------------------------------------------------------------------------------------
def same_layers(degree=3):
    theirs, ours = ChebConv(4, 3, K=degree + 1, bias=False), SpectralConv(4, 3, degree)
    with torch.no_grad():
        for d, lin in enumerate(theirs.lins):
            ours.paradigm.theta[d] = lin.weight.T
    return theirs, ours


class OneLayer(torch.nn.Module):
    def __init__(self, layer, **options):
        super().__init__()
        self.layer, self.options = layer, options

    def forward(self, x, edge_index):
        return self.layer(x, edge_index, **self.options)


def test_an_explanation_by_edge_masks_is_that_of_cheb_conv():
    edge_index, _, nodes, _ = graph()
    x, (theirs, ours) = torch.randn(nodes, 4), same_layers()
    masks = []
    for model in (OneLayer(theirs, lambda_max=torch.tensor(2.0)), OneLayer(ours)):
        explainer = Explainer(
            model,
            algorithm=GNNExplainer(epochs=20),
            explanation_type="model",
            edge_mask_type="object",
            node_mask_type="attributes",
            model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
        )
        torch.manual_seed(0)
        masks.append(explainer(x, edge_index, index=2).edge_mask)
    assert masks[0].abs().sum() > 0
    torch.testing.assert_close(masks[1], masks[0], rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(ours(x, edge_index), theirs(x, edge_index, lambda_max=torch.tensor(2.0)), rtol=1e-5, atol=1e-5)


def test_a_mask_of_edges_in_one_direction_and_of_merged_ones():
    """A direction that the list lacks has the mask of the other; edges that are merged share theirs by weight."""
    edge_index, weight = torch.tensor([[0, 0, 1, 2], [1, 1, 2, 2]]), torch.tensor([1.0, 3.0, 2.0, 5.0], dtype=torch.float64)
    x, mask = torch.eye(3, dtype=torch.float64), torch.tensor([0.0, 1.0, 0.5, 0.2], dtype=torch.float64)
    whole = learnable_operator_of(edge_index, weight, x, kind="P~", owner="test") @ x
    masked = learnable_operator_of(edge_index, weight, x, kind="P~", owner="test", mask=mask) @ x
    share = torch.tensor([[1, 0.75, 0], [0.75, 1, 0.5], [0, 0.5, 1]], dtype=torch.float64)
    torch.testing.assert_close(masked, whole * share)
    with pytest.raises(chebnet2d.InputError, match="edge_index must be 2 x E integers where edges are masked"):
        learnable_operator_of(adjacency(edge_index, weight), None, x, owner="test", mask=mask)

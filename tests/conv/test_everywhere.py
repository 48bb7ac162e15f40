"""Each line of the table in docs/layer.md: where the layers work, and what they say where they do not.

The test of a line is named in the last column of the table, and ``test_every_line_of_the_table_is_a_test`` compares the two.
"""

import copy
import pickle
import re
from pathlib import Path

import pytest
import torch
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, to_hetero

import chebnet2d
from chebnet2d.conv import PARADIGMS, ChebConv2D, SpectralConv
from chebnet2d.graph import DirectedGraphWarning, adjacency, operator_of
from example_graphs import graph

PAGE = Path(__file__).parents[2] / "docs" / "layer.md"
BACKENDS = ["eager", "aot_eager"]  # neither needs a C++ compiler


@pytest.fixture
def given():
    """A layer and its arguments."""
    edge_index, weight, nodes, _ = graph()
    return ChebConv2D(4, 3, degree=5, bias=True), torch.randn(nodes, 4), edge_index, weight.float()


def passes(layer, x, *arguments):
    """The result, and the gradients of x and of the parameters."""
    x = x.detach().requires_grad_()
    z = layer(x, *arguments)
    return z, *torch.autograd.grad(z.float().square().sum(), (x, *layer.parameters()))


def same(found, expected, **tolerance):
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, **tolerance)


def test_every_line_of_the_table_is_a_test():
    lines = re.findall(r"\| `(test_\w+)`", PAGE.read_text(encoding="utf-8"))
    here = [name for name in globals() if name.startswith("test_") and name != "test_every_line_of_the_table_is_a_test"]
    elsewhere = (Path(__file__).parent / "test_learned_weights.py").read_text(encoding="utf-8")
    assert len(lines) == len(set(lines))
    assert set(here) <= set(lines)
    assert [name for name in lines if name not in here and f"def {name}(" not in elsewhere] == []


# ---- compile, export, jit --------------------------------------------------------------------------------------
@pytest.fixture
def compiler():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("backend", BACKENDS)
def test_compile_full_graph(given, compiler, backend):
    layer, *arguments = given
    arguments[1] = arguments[1].clone()  # a graph that was not seen before
    same(passes(torch.compile(layer, backend=backend, fullgraph=True), *arguments), passes(layer, *arguments))


def test_compile_every_paradigm(compiler):
    edge_index, weight, nodes, _ = graph()
    x = torch.randn(nodes, 3)
    for paradigm in PARADIGMS:
        layer = SpectralConv(3, 3, 4, paradigm=paradigm, rank=2 if paradigm == "rank" else None, init="xavier")
        compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
        same(passes(compiled, x, edge_index, weight.float()), passes(layer, x, edge_index, weight.float()), rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # torch's compiler asks for it, and hides the warning
def test_compile_with_breaks(given, compiler):
    """Learned weights, sparse graphs, ready operators and bases that depend on the signal."""
    layer, x, edge_index, weight = given
    compiled = torch.compile(layer, backend="aot_eager")
    learned = weight.clone().requires_grad_()
    for z in (compiled(x, edge_index, learned), layer(x, edge_index, learned)):
        z.square().sum().backward()
    ours, learned.grad = learned.grad, None
    layer(x, edge_index, learned).square().sum().backward()
    torch.testing.assert_close(ours, 2 * learned.grad)
    a = adjacency(edge_index, weight, len(x), dtype=torch.float32)
    for matrix in (a.csr, operator_of(edge_index, weight, x, owner="test")):
        same(passes(compiled, x, matrix), passes(layer, x, matrix))
    layer = SpectralConv(4, 4, 4, paradigm="III", basis="orthonormal")
    same(passes(torch.compile(layer, backend="aot_eager"), x, edge_index), passes(layer, x, edge_index))


def test_export(given):
    layer, x, edge_index, _ = given
    nodes, edges = torch.export.Dim("nodes", min=2), torch.export.Dim("edges", min=2)
    program = torch.export.export(layer, (x, edge_index), dynamic_shapes=({0: nodes}, {1: edges}))
    other, few = torch.randn(5, 4), torch.tensor([[0, 1, 2], [1, 0, 2]])
    torch.testing.assert_close(program.module()(other, few), layer(other, few))


def test_the_operation_keeps_the_rules_of_torch():
    edge_index, weight, nodes, _ = graph()
    x, maps = torch.randn(nodes, 3, requires_grad=True), torch.randn(4, 3, 2, requires_grad=True)
    arguments = (x, maps, edge_index, weight.float(), "L_hat", "refuse", "test")
    found = torch.library.opcheck(torch.ops.chebnet2d.graph_filter.default, arguments)
    assert set(found.values()) == {"SUCCESS"}


def test_jit_is_refused(given):
    layer, x, edge_index, _ = given
    sentence = "ChebConv2D: the layer must be run by Python or torch.compile, not by torch.jit"
    for script in (lambda: torch.jit.script(nn.Sequential(layer)), lambda: torch.jit.trace(layer, (x, edge_index))):
        with pytest.raises(chebnet2d.InputError, match=sentence):
            script()


# ---- torch.func ------------------------------------------------------------------------------------------------
def test_torch_func(given):
    layer, x, edge_index, weight = given
    parameters = {name: p.detach() for name, p in layer.named_parameters()}
    loss = lambda p, a, e, w: torch.func.functional_call(layer, p, (a, e, w)).square().sum()
    gradients = torch.func.grad(loss)(parameters, x, edge_index.clone(), weight)
    same(gradients.values(), passes(layer, x, edge_index, weight)[2:])
    assert torch.func.jacrev(lambda a: layer(a, edge_index.clone()))(x).shape == (len(x), 3, *x.shape)
    stack = torch.func.vmap(lambda a: layer(a, edge_index.clone()))(torch.stack([x, 2 * x]))
    torch.testing.assert_close(stack[1], layer(2 * x, edge_index))


def test_forward_mode_is_not_supported(given):
    layer, x, edge_index, _ = given
    with pytest.raises(NotImplementedError, match="implement the jvp function"):
        torch.func.jvp(lambda a: layer(a, edge_index), (x,), (x,))


def test_a_stack_of_graphs_is_refused(given):
    layer, x, edge_index, _ = given
    with pytest.raises(chebnet2d.InputError, match="ChebConv2D: edge_index must be a plain tensor here"):
        torch.func.vmap(lambda e: layer(x, e))(torch.stack([edge_index, edge_index]))


# ---- shapes and numbers ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("paradigm", list(PARADIGMS))
def test_no_nodes(paradigm):
    layer = SpectralConv(3, 3, 4, paradigm=paradigm, rank=2 if paradigm == "rank" else None)
    z, of_x, *others = passes(layer, torch.randn(0, 3), torch.empty(2, 0, dtype=torch.long))
    assert z.shape == of_x.shape == (0, 3)
    assert all((gradient == 0).all() for gradient in others)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(given, dtype):
    """Sums are float32: what is left is the rounding of inputs, parameters and result."""
    layer, x, edge_index, weight = given
    layer, x = layer.to(dtype), x.to(dtype)
    found = passes(layer, x, edge_index, weight)
    assert all(tensor.dtype == dtype for tensor in found)
    exact = passes(copy.deepcopy(layer).float(), x.float(), edge_index, weight)
    for ours, theirs in zip(found, exact, strict=True):
        assert (ours.float() - theirs).abs().max() <= 4 * torch.finfo(dtype).eps * theirs.abs().max()


def test_autocast(given):
    layer, x, edge_index, _ = given
    expected, linear = layer(x, edge_index), nn.Linear(4, 4)
    with torch.autocast("cpu", torch.bfloat16):
        z, after = layer(x, edge_index), layer(linear(x), edge_index)
    assert z.dtype == after.dtype == torch.bfloat16
    assert torch.equal(z, expected.bfloat16())
    (2 * after).sum().backward()
    assert linear.weight.grad.dtype == torch.float32


def test_dtypes_that_do_not_fit_are_refused(given):
    layer, x, edge_index, _ = given
    for dtype in (torch.float64, torch.float16):
        with pytest.raises(chebnet2d.InputError, match=f"x must have the dtype of the layer, torch.float32, got {dtype}"):
            layer(x.to(dtype), edge_index)
    layer = SpectralConv(4, 4, 2, paradigm="III", basis="orthonormal").half()
    with pytest.raises(chebnet2d.InputError, match="x must have float32 or float64 for the basis 'orthonormal'"):
        layer(x.half(), edge_index)


def test_lazy_channels(given):
    _, x, edge_index, _ = given
    for paradigm in PARADIGMS:
        options = {"paradigm": paradigm, "rank": 2 if paradigm == "rank" else None, "init": "xavier"}
        layer = SpectralConv(-1, 4, 5, **options)
        twin = copy.deepcopy(layer)
        assert layer(x, edge_index).shape == (len(x), 4)
        assert layer.in_channels == 4
        twin.load_state_dict(layer.state_dict())  # gives it its channels, too
        assert torch.equal(twin(x, edge_index), layer(x, edge_index))
        with pytest.raises(chebnet2d.InputError, match="x must be an N x 4 tensor"):
            layer(x[:, :3], edge_index)


# ---- torch_geometric -------------------------------------------------------------------------------------------
def two_kinds():
    data = HeteroData()
    edge_index, _, _, x = graph()
    data["a"].x, data["b"].x = x.float(), torch.randn(5, 6)
    data["a", "to", "a"].edge_index, data["b", "to", "b"].edge_index = edge_index, torch.tensor([[0, 1, 3, 4], [1, 0, 4, 3]])
    return data


class TwoLayers(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first, self.second = ChebConv2D(channels, 8, 3), ChebConv2D(8, 2, 3)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def test_to_hetero(recwarn):
    data = two_kinds()
    model = to_hetero(TwoLayers(-1), data.metadata())
    found = model(data.x_dict, data.edge_index_dict)
    assert {kind: z.shape for kind, z in found.items()} == {"a": (17, 2), "b": (5, 2)}
    sum(z.sum() for z in found.values()).backward()
    assert all(p.grad is not None for p in model.parameters())


def test_hetero_conv():
    data = two_kinds()
    relations = {("a", "to", "a"): ChebConv2D(6, 3, 3), ("b", "to", "b"): ChebConv2D(-1, 3, 3)}
    found = HeteroConv(dict(relations))(data.x_dict, data.edge_index_dict)
    torch.testing.assert_close(found["a"], relations["a", "to", "a"](data["a"].x, data["a", "to", "a"].edge_index))
    assert found["b"].shape == (5, 3)


def test_edges_between_kinds_of_nodes_are_refused():
    data = two_kinds()
    data["a", "to", "b"].edge_index = torch.tensor([[0, 1], [1, 0]])
    data["b", "to", "a"].edge_index = data["a", "to", "b"].edge_index
    layer = HeteroConv({kind: ChebConv2D(6, 3, 3) for kind in (("a", "to", "b"), ("b", "to", "a"))})
    with pytest.raises(chebnet2d.InputError, match="got a pair: source and target nodes. A spectral filter needs"):
        layer(data.x_dict, data.edge_index_dict)


def test_copies_and_pickles(given):
    layer, x, edge_index, weight = given
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(twin(x, edge_index, weight), layer(x, edge_index, weight))


# ---- directed graphs -------------------------------------------------------------------------------------------
def test_directed_graphs():
    edge_index, x = torch.tensor([[0, 1], [1, 2]]), torch.randn(3, 2)
    both = torch.cat([edge_index, edge_index.flip(0)], dim=1)
    layer = ChebConv2D(2, 2, 3)
    with pytest.warns(DirectedGraphWarning, match="The two directions of some edges differ") as warned:
        found = [layer(x, edge_index) for _ in range(3)]
    assert len(warned) == 1, "once for a graph"
    assert torch.equal(found[0], layer(x, both)), "an undirected graph gives no warning"
    layer.directed = "symmetrise"
    assert torch.equal(found[0], layer(x, edge_index))
    refusing = ChebConv2D(2, 2, 3, directed="refuse")
    for weight in (None, torch.ones(2, requires_grad=True)):
        with pytest.raises(chebnet2d.InputError, match="edge_index must hold both directions of every edge"):
            refusing(x, edge_index, weight)
    refusing(x, both)
    with pytest.raises(chebnet2d.InputError, match="ChebConv2D: directed must be one of 'warn', 'symmetrise', 'refuse'"):
        ChebConv2D(2, 2, 3, directed="magnetic")

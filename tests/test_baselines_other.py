"""GCN, GCNII, LINKX, GloGNN++, PDE-GCN and NodeFormer: against published vectors and against oracles that are not this code."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCN2Conv, GCNConv
from torch_geometric.nn.models import LINKX as ReferenceLINKX
from torch_geometric.utils import to_dense_adj, to_undirected

from chebnet2d._checks import InputError
from chebnet2d.graph import SparseOperator, adjacency, made_of, operator_of
from chebnet2d.models import GCN, GCNII, LINKX, PDEGCN, GloGNN
from chebnet2d.models.gcnii import GCNIILayer
from chebnet2d.models.pdegcn import Flux, edge_gradient
from example_graphs import weighted
from oracle_vectors import assert_near, check_vector, read_vector


def graph(seed: int = 0):
    """Edges in both directions, weights, N and random features in float64; two components and isolated nodes."""
    edge_index, weight, nodes = weighted(seed)
    kept = edge_index[0] != edge_index[1]
    edge_index, weight = to_undirected(edge_index[:, kept], weight[kept], num_nodes=nodes, reduce="add")
    generator = torch.Generator().manual_seed(seed + 100)
    return edge_index, weight, nodes, torch.randn(nodes, 6, generator=generator, dtype=torch.float64)


def randomised(model):
    """Random parameters and running statistics, in float64 and in evaluation mode."""
    model.double().eval()
    generator = torch.Generator().manual_seed(7)
    for name, value in model.state_dict().items():
        if name.endswith("running_var"):
            value.copy_(0.5 + torch.rand(value.shape, generator=generator, dtype=value.dtype))
        else:
            value.copy_(0.5 * torch.randn(value.shape, generator=generator, dtype=value.dtype))
    return model


def dense_adjacency(edge_index, weight, nodes):
    return to_dense_adj(edge_index, edge_attr=weight, max_num_nodes=nodes)[0]


# ---- what the operators are -------------------------------------------------------------------------------------------
def test_adjacency_and_row_stochastic_operator_against_dense():
    edge_index, weight, nodes, x = graph()
    a = dense_adjacency(edge_index, weight, nodes)
    torch.testing.assert_close(operator_of(edge_index, weight, x, kind="A", owner="t").to_dense(), a)
    loops = a + torch.eye(nodes, dtype=a.dtype)
    wanted = loops / loops.sum(dim=1, keepdim=True)
    torch.testing.assert_close(operator_of(edge_index, weight, x, kind="D~^-1 A~", owner="t").to_dense(), wanted)


def test_what_is_made_of_a_graph_is_made_once_until_the_graph_changes():
    edge_index, weight, nodes, _ = graph()
    calls = []

    def count(a: SparseOperator) -> int:
        calls.append(a.nnz)
        return len(calls)

    assert made_of(edge_index, weight, nodes, "count", count, owner="t") == 1
    assert made_of(edge_index, weight, nodes, "count", count, owner="t") == 1
    assert made_of(edge_index, weight, nodes, "other", count, owner="t") == 2
    edge_index[:, 0] = edge_index[:, 1]
    assert made_of(edge_index, weight, nodes, "count", count, owner="t") == 3
    operator = adjacency(edge_index, weight, nodes)
    assert made_of(operator, None, nodes, "count", count, owner="t") == 4
    assert made_of(operator, None, nodes, "count", count, owner="t") == 4
    with pytest.raises(InputError, match="t: the operator must be 3 x 3, as x has rows"):
        made_of(operator, None, 3, "count", count, owner="t")
    with pytest.raises(InputError, match="t: edge_index must be a tensor"):
        made_of([[0], [1]], None, 3, "count", count, owner="t")  # type: ignore[arg-type]


# ---- GCN --------------------------------------------------------------------------------------------------------------
GCN_NAMES = {f"layers.{i}.{part}": f"conv{i + 1}.{part}" for i in (0, 1) for part in ("bias",)} | {
    f"layers.{i}.weight": f"conv{i + 1}.lin.weight.T" for i in (0, 1)
}


@pytest.mark.parametrize("name", ["gcn", "pyg_gcnconv"])
def test_gcn_reproduces_the_published_vector(name):
    check_vector(GCN(12, 4, hidden_channels=8), read_vector(name), GCN_NAMES)


def test_gcn_with_batch_norm_is_torch_geometrics_layers_with_torchs_batch_norm():
    edge_index, weight, _, x = graph()
    model = randomised(GCN(6, 3, hidden_channels=5, num_layers=3, batch_norm=True))
    reference = [GCNConv(6, 5).double(), GCNConv(5, 5).double(), GCNConv(5, 3).double()]
    hidden = x
    for i, (layer, ours) in enumerate(zip(reference, model.layers, strict=True)):
        layer.lin.weight.data, layer.bias.data = ours.weight.data.T, ours.bias.data
        hidden = layer(hidden, edge_index, weight)
        if i < 2:
            norm = model.norms[i]
            hidden = torch.nn.functional.batch_norm(hidden, norm.running_mean, norm.running_var, norm.weight, norm.bias).relu()
    torch.testing.assert_close(model(x, edge_index, weight), hidden)


# ---- GCNII ------------------------------------------------------------------------------------------------------------
def gcnii_names(layers: int) -> dict[str, str]:
    names = {f"layers.{i}.weight": f"convs.{i}.weight" for i in range(layers)}
    for ours, theirs in (("first", "fcs.0"), ("last", "fcs.1")):
        names |= {f"{ours}.weight": f"{theirs}.weight.T", f"{ours}.bias": f"{theirs}.bias"}
    return names


@pytest.mark.parametrize("name", ["gcnii", "gcnii_star"])
def test_gcnii_reproduces_the_published_vector(name):
    vector = read_vector(name)
    settings = {key: vector.config[key] for key in ("alpha", "lamda")}
    model = GCNII(12, 4, hidden_channels=8, num_layers=4, star=vector.config["variant"], **settings)
    check_vector(model, vector, gcnii_names(4))


@pytest.mark.parametrize("star", [False, True])
def test_gcnii_layer_is_torch_geometrics(star):
    edge_index, weight, _, x = graph()
    start = torch.randn_like(x)
    alpha, theta, number = 0.3, 0.7, 3
    reference = GCN2Conv(6, alpha, theta, number, shared_weights=not star).double()
    layer = randomised(GCNIILayer(6, alpha, float(np.log(theta / number + 1)), star))
    if star:  # there the factors 1 - alpha and alpha stand before the matrices
        layer.weight.data = torch.cat([(1 - alpha) * reference.weight1.data, alpha * reference.weight2.data])
    else:
        layer.weight.data = reference.weight1.data
    operator = operator_of(edge_index, weight, x, kind="P~", owner="t")
    torch.testing.assert_close(layer(x, start, operator), reference(x, start, edge_index, weight))


@pytest.mark.parametrize("name", ["pyg_gcn2conv", "pyg_gcn2conv_split"])
def test_gcnii_layer_reproduces_torch_geometrics_vector(name):
    vector = read_vector(name)
    settings, parameters = vector.config, vector.part("param")
    star = not settings["shared_weights"]
    layer = GCNIILayer(12, settings["alpha"], float(np.log(settings["theta"] / settings["layer"] + 1)), star).double()
    factors = [("weight1", 1 - settings["alpha"]), ("weight2", settings["alpha"])] if star else [("weight1", 1.0)]
    layer.weight.data = torch.cat([factor * torch.from_numpy(parameters[key]) for key, factor in factors])
    x = vector.x.requires_grad_()
    out = layer(x, vector.tensor("x0"), operator_of(vector.edge_index, None, x.detach(), kind="P~", owner="t"))
    assert_near(out, vector.arrays["output"], "output")
    torch.nn.functional.cross_entropy(out, vector.tensor("y")).backward()
    assert_near(x.grad, vector.arrays["grad_x"], "gradient of x")
    parts = layer.weight.grad.chunk(2) if star else (layer.weight.grad,)
    for (key, factor), found in zip(factors, parts, strict=True):
        assert_near(factor * found, vector.arrays[f"grad:{key}"], f"gradient of {key}")


# ---- LINKX ------------------------------------------------------------------------------------------------------------
def mlp_names(ours: str, theirs: str, layers: int) -> dict[str, str]:
    names = {}
    for i in range(layers):
        names |= {
            f"{ours}.layers.{i}.weight": f"{theirs}.lins.{i}.weight.T",
            f"{ours}.layers.{i}.bias": f"{theirs}.lins.{i}.bias",
        }
    for i in range(layers - 1):
        names |= {
            f"{ours}.norms.{i}.{part}": f"{theirs}.bns.{i}.{part}" for part in ("weight", "bias", "running_mean", "running_var")
        }
    return names


@pytest.mark.parametrize("name", ["linkx", "linkx_deep"])
def test_linkx_reproduces_the_published_vector(name):
    vector = read_vector(name)
    layers = [vector.config[key] for key in ("init_layers_A", "init_layers_X", "num_layers")]
    model = LINKX(
        12,
        4,
        num_nodes=30,
        hidden_channels=8,
        num_layers=layers[2],
        adjacency_layers=layers[0],
        feature_layers=layers[1],
        inner_activation=vector.config["inner_activation"],
    )
    names = {"mix.weight": "W.weight.T", "mix.bias": "W.bias"}
    for ours, theirs, count in zip(
        ("adjacency_mlp", "feature_mlp", "final_mlp"), ("mlpA", "mlpX", "mlp_final"), layers, strict=True
    ):
        names |= mlp_names(ours, theirs, count)
    check_vector(model, vector, names)


def test_linkx_reproduces_torch_geometrics_vector():
    vector = read_vector("pyg_linkx")
    names = {
        "mix.weight": lambda arrays: np.concatenate([arrays["cat_lin1.weight"].T, arrays["cat_lin2.weight"].T]),
        "mix.bias": lambda arrays: arrays["cat_lin1.bias"] + arrays["cat_lin2.bias"],
        "adjacency_mlp.layers.0.weight": "edge_lin.weight",
        "adjacency_mlp.layers.0.bias": "edge_lin.bias",
        "feature_mlp.layers.0.weight": "node_mlp.lins.0.weight.T",
        "feature_mlp.layers.0.bias": "node_mlp.lins.0.bias",
        "final_mlp.layers.0.weight": "final_mlp.lins.0.weight.T",
        "final_mlp.layers.0.bias": "final_mlp.lins.0.bias",
        "final_mlp.layers.1.weight": "final_mlp.lins.1.weight.T",
        "final_mlp.layers.1.bias": "final_mlp.lins.1.bias",
    }
    for part in ("weight", "bias", "running_mean", "running_var"):
        names[f"final_mlp.norms.0.{part}"] = f"final_mlp.norms.0.module.{part}"
    model = LINKX(12, 4, num_nodes=30, hidden_channels=8)
    # the sum of the two biases has the gradient of each, not their sum: it is checked by hand
    bias = vector.arrays["grad:cat_lin1.bias"] + vector.arrays["grad:cat_lin2.bias"]
    vector.arrays["grad:cat_lin1.bias"] = bias / 2
    vector.arrays["grad:cat_lin2.bias"] = np.zeros_like(bias)
    check_vector(model, vector, names)


def test_linkx_is_torch_geometrics():
    edge_index, _, nodes, x = graph()
    reference = ReferenceLINKX(nodes, 6, 8, 3, 2).double().eval()
    model = LINKX(6, 3, num_nodes=nodes, hidden_channels=8).double().eval()
    state = reference.state_dict()
    pairs = {
        "mix.weight": torch.cat([state["cat_lin1.weight"].T, state["cat_lin2.weight"].T]),
        "mix.bias": state["cat_lin1.bias"] + state["cat_lin2.bias"],
        "adjacency_mlp.layers.0.weight": state["edge_lin.weight"],
        "adjacency_mlp.layers.0.bias": state["edge_lin.bias"],
        "feature_mlp.layers.0.weight": state["node_mlp.lins.0.weight"].T,
        "feature_mlp.layers.0.bias": state["node_mlp.lins.0.bias"],
    }
    for i in (0, 1):
        pairs[f"final_mlp.layers.{i}.weight"] = state[f"final_mlp.lins.{i}.weight"].T
        pairs[f"final_mlp.layers.{i}.bias"] = state[f"final_mlp.lins.{i}.bias"]
    model.load_state_dict(pairs, strict=False)
    torch.testing.assert_close(model(x, edge_index), reference(x, edge_index))


@pytest.mark.parametrize("method", [LINKX, GloGNN])
def test_models_of_one_graph_refuse_another(method):
    edge_index, weight, nodes, x = graph()
    with pytest.raises(InputError, match=f"{method.__name__}: x must have num_nodes = 5 rows, got {nodes}. The rows of A are"):
        method(6, 3, num_nodes=5)(x, edge_index, weight)


# ---- GloGNN++ ---------------------------------------------------------------------------------------------------------
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


# ---- PDE-GCN ----------------------------------------------------------------------------------------------------------
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

"""GCN, GCNII, LINKX, GloGNN++, PDE-GCN and NodeFormer: against published vectors and against oracles that are not this code."""

import inspect
import tomllib
from importlib.resources import files

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch_geometric.nn import GCN2Conv, GCNConv
from torch_geometric.nn.models import LINKX as ReferenceLINKX
from torch_geometric.utils import to_dense_adj, to_undirected

from chebnet2d._checks import InputError
from chebnet2d.data import csbm, split
from chebnet2d.graph import SparseOperator, adjacency, made_of, operator_of
from chebnet2d.models import GCN, GCNII, LINKX, MODELS, PDEGCN, GloGNN, NodeFormer
from chebnet2d.models.gcnii import GCNIILayer
from chebnet2d.models.nodeformer import KernelAttention, draw_noise, draw_projection, relations_of
from chebnet2d.models.pdegcn import Flux, edge_gradient
from chebnet2d.nn import Stream, noisy_attention, random_streams
from chebnet2d.training import Run, Settings, fit_many
from example_graphs import weighted
from oracle_vectors import assert_near, check_vector, load_parameters, read_vector


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
        layer.lin.weight.data = ours.weight.data.T
        assert (ours.bias is None) == (i < 2)
        if ours.bias is not None:
            layer.bias.data = ours.bias.data
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


# ---- NodeFormer -------------------------------------------------------------------------------------------------------
def published_nodeformer(name):
    """The model of a vector with its parameters and its stored projections, and the map of names."""
    vector = read_vector(name)
    settings = vector.config
    model = NodeFormer(
        12,
        4,
        hidden_channels=settings["hidden_channels"],
        num_layers=settings["num_layers"],
        num_heads=settings["num_heads"],
        num_features=settings["nb_random_features"],
        relational_order=settings["rb_order"],
        relational_activation=settings["rb_trans"],
        activation=settings["use_act"],
        jumping_knowledge=settings["use_jk"],
        tau=settings["tau"],
        edge_loss=settings["lamda"],
    )
    names = {}
    linear = {"first": "fcs.0", "last": "fcs.1"}
    for i in range(settings["num_layers"]):
        linear |= {f"layers.{i}.{ours}": f"convs.{i}.W{ours[0]}" for ours in ("query", "key", "value", "out")}
        names[f"layers.{i}.relational.strength"] = f"convs.{i}.b"
        model.layers[i].attention.projection = vector.tensor(f"layer{i}:projection")
    for ours, theirs in linear.items():
        names |= {f"{ours}.weight": f"{theirs}.weight.T", f"{ours}.bias": f"{theirs}.bias"}
    for i in range(settings["num_layers"] + 1):
        names |= {f"norms.{i}.{part}": f"bns.{i}.{part}" for part in ("weight", "bias")}
    load_parameters(model, vector, names)
    return model.eval(), vector, names


@pytest.mark.parametrize("name", ["nodeformer", "nodeformer_jk"])
def test_nodeformer_reproduces_the_published_vector(name):
    model, vector, names = published_nodeformer(name)
    check_vector(model, vector, names)


@pytest.mark.parametrize("name", ["nodeformer", "nodeformer_jk"])
def test_nodeformer_reproduces_the_published_edge_loss_and_its_gradients(name):
    model, vector, names = published_nodeformer(name)
    x = vector.x.requires_grad_()
    logits, scores = model.logits_and_edge_scores(x, vector.edge_index)
    assert_near(scores, vector.arrays["link_loss"], "edge scores")
    loss = torch.nn.functional.cross_entropy(logits, vector.tensor("y")) - vector.config["lamda"] * scores.mean()
    assert_near(loss, vector.arrays["loss_total"], "total loss")
    loss.backward()
    gradients = vector.part("grad_total")
    for ours, theirs in names.items():
        wanted = gradients[theirs.removesuffix(".T")]
        assert_near(model.get_parameter(ours).grad, wanted.T if theirs.endswith(".T") else wanted, f"gradient of {ours}")
    assert_near(x.grad, vector.arrays["grad_total_x"], "gradient of x")


@pytest.mark.parametrize("name", ["nodeformer", "nodeformer_jk"])
def test_nodeformer_attention_and_relations_are_the_published_ones(name):
    model, vector, _ = published_nodeformer(name)
    relations = relations_of(vector.edge_index, None, vector.x, vector.config["rb_order"])
    for i, layer in enumerate(model.layers):
        query, key, value = (vector.tensor(f"layer{i}:{part}") for part in "qkv")
        assert_near(layer.attention(query, key, value)[0], vector.arrays[f"layer{i}:attention_kernel"], "kernel attention")
    for r, operator in enumerate(relations.operators, start=1):
        pairs = vector.arrays[f"adjacency:{r}"]
        dense = np.zeros((30, 30))
        dense[pairs[1], pairs[0]] = 1
        dense = dense / np.sqrt(dense.sum(axis=1, keepdims=True) * dense.sum(axis=0))
        assert_near(operator.to_dense(), dense, f"operator of order {r}")


def exact_attention(query, key, value, tau):
    logits = torch.einsum("nhd,khd->hnk", query, key) / (tau * query.shape[2] ** 0.5)
    return torch.einsum("hnk,khd->nhd", logits.softmax(dim=2), value)


def attention_estimates(kind, features, draws=100, tau=0.25):
    """Estimates of attention on small q, k (draws x N x heads x d), and the exact one."""
    generator = torch.Generator().manual_seed(3)
    query, key, value = torch.randn(3, 12, 2, 4, generator=generator, dtype=torch.float64)
    query, key = 0.2 * query, 0.2 * key
    attention = KernelAttention(4, features, 0, tau, kind, (0,)).double()
    estimates = []
    for seed in range(draws):
        attention.projection = torch.from_numpy(draw_projection(np.random.default_rng(seed), features, 4, kind))
        estimates.append(attention.eval()(query, key, value)[0])
    return torch.stack(estimates), exact_attention(query, key, value, tau)


def test_nodeformer_attention_is_softmax_attention_within_its_monte_carlo_error():
    estimates, exact = attention_estimates("corrected", features=3200)
    error = estimates.std(dim=0) / len(estimates) ** 0.5
    # The quotient of two estimates has a bias of the order of their variance: far below one standard error here.
    assert float(((estimates.mean(dim=0) - exact).abs() / error).max()) < 4.5
    fewer, _ = attention_estimates("corrected", features=200)
    errors = [float((found - exact).square().mean().sqrt()) for found in (fewer, estimates)]
    assert 3.2 < errors[0] / errors[1] < 4.8  # 16 times the features: a quarter of the error
    assert errors[1] < 0.01
    biased, _ = attention_estimates("published", features=3200)
    assert float(((biased.mean(dim=0) - exact).abs() / error).max()) > 10


def test_nodeformer_projection_has_orthogonal_blocks_in_uniform_directions():
    rng = np.random.default_rng(0)
    matrix = draw_projection(rng, 10, 4)
    assert matrix.shape == (10, 4)
    for block in (matrix[:4], matrix[4:8], matrix[8:]):
        gram = block @ block.T
        np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-12)
    for kind, mean in (("corrected", 0.0), ("published", -1.0)):
        draws = np.stack([draw_projection(rng, 4, 4, kind) for _ in range(4000)])
        first = draws[:, 0, 0].mean()  # one component of a standard normal vector
        assert abs(first - mean) < 0.1 if kind == "corrected" else first < -0.3
        np.testing.assert_allclose((draws**2).sum(axis=2).mean(), 4, rtol=0.02)


@pytest.mark.parametrize("stacked", [False, True])
def test_noisy_attention_is_the_plain_formula_with_its_gradients(stacked):
    generator = torch.Generator().manual_seed(1)
    shapes = [(7, 2, 5), (7, 2, 5), (7, 2, 3), (7, 2, 4)]
    parts = [torch.rand(3 if stacked else 1, *shape, generator=generator, dtype=torch.float64) + 0.1 for shape in shapes]
    *inputs, noise = [part.requires_grad_() for part in parts[:3]] + parts[3:]

    def plain(query, key, value, noise):
        weights = torch.einsum("nhm,jhm,jhs->nhjs", query, key, noise)
        return torch.einsum("nhjs,jhd->nhd", weights / weights.sum(dim=2, keepdim=True), value) / noise.shape[2]

    wanted = torch.stack([plain(*run) for run in zip(*inputs, noise, strict=True)])
    found = torch.func.vmap(noisy_attention)(*inputs, noise) if stacked else noisy_attention(*(part[0] for part in parts))[None]
    torch.testing.assert_close(found, wanted)
    direction = torch.randn(wanted.shape, generator=generator, dtype=torch.float64)
    gradients = [torch.autograd.grad((out * direction).sum(), inputs) for out in (found, wanted)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_nodeformer_noise_is_finite_where_a_wait_rounds_to_zero():
    class Zeros(np.random.Generator):
        def standard_exponential(self, size):
            waits = super().standard_exponential(size)
            waits[1, 0] = 0.0
            return waits

    noise = draw_noise(Zeros(Stream(1)), (5, 2, 3), 0.25)
    assert np.isfinite(noise).all()
    np.testing.assert_array_equal(noise[1, 0], 1.0)
    np.testing.assert_array_equal(noise.max(axis=0), 1.0)


def test_nodeformer_noise_is_gumbel_softmax_over_keys():
    """Gumbel noise at temperature tau on exact attention weights, drawn in numpy, has the same mean output."""
    generator = torch.Generator().manual_seed(5)
    query, key, value = torch.randn(3, 6, 1, 3, generator=generator, dtype=torch.float64)
    query, key, tau = 0.3 * query, 0.3 * key, 0.5
    attention = KernelAttention(3, 600, 400, tau, "corrected", (0,)).double().train()
    with random_streams([Stream(1)]):
        draws = torch.stack([attention(query, key, value)[0] for _ in range(20)])
    rng = np.random.default_rng(0)
    logits = torch.einsum("nhd,khd->nk", query, key).numpy() / 3**0.5
    noisy = np.exp((logits[None] + rng.gumbel(size=(20000, 1, 6))) / tau)
    wanted = np.einsum("snk,kd->nd", noisy / noisy.sum(axis=2, keepdims=True), value[:, 0].numpy()) / 20000
    np.testing.assert_allclose(draws.mean(dim=0)[:, 0].numpy(), wanted, atol=0.06)
    assert float(draws.std(dim=0).min()) > 0


def test_nodeformer_is_random_in_training_and_fixed_in_evaluation():
    edge_index, weight, _, x = graph()
    model = NodeFormer(6, 3, hidden_channels=8, num_heads=2).double()
    first, penalty = model(x, edge_index, weight)
    second, _ = model(x, edge_index, weight)
    assert not torch.equal(first, second)
    assert penalty.shape == ()
    assert float(penalty.detach()) > 0
    model.eval()
    torch.testing.assert_close(model(x, edge_index, weight), model(x, edge_index, weight), rtol=0, atol=0)
    other = NodeFormer(6, 3, hidden_channels=8, num_heads=2, projection_seed=1).double().eval()
    other.load_state_dict(model.state_dict())
    assert not torch.equal(model(x, edge_index, weight), other(x, edge_index, weight))
    silent = NodeFormer(6, 3, edge_loss=0.0).double()
    assert isinstance(silent(x, edge_index, weight), torch.Tensor)
    plain = NodeFormer(6, 3, relational_order=0).double().eval()
    assert plain(x, edge_index).shape == (x.shape[0], 3)


def test_nodeformer_says_what_is_wrong():
    with pytest.raises(InputError, match="NodeFormer: projection must be one of 'corrected', 'published', got 'fixed'"):
        NodeFormer(6, 3, projection="fixed")
    with pytest.raises(InputError, match="NodeFormer: tau must be > 0, got 0."):
        NodeFormer(6, 3, tau=0.0)


# ---- all of them ------------------------------------------------------------------------------------------------------
METHODS = {
    "gcn": (GCN, {}),
    "gcn with batch norm": (GCN, {"batch_norm": True, "num_layers": 3}),
    "gcnii": (GCNII, {"num_layers": 4}),
    "gcnii star": (GCNII, {"num_layers": 4, "star": True}),
    "linkx": (LINKX, {"num_nodes": 150, "adjacency_layers": 2}),
    "glognn small": (GloGNN, {"num_nodes": 150}),
    "glognn large": (GloGNN, {"num_nodes": 150, "form": "large"}),
    "pdegcn": (PDEGCN, {"num_layers": 3, "mix_per_layer": True}),
    "pdegcn tanh": (PDEGCN, {"num_layers": 3, "dynamics": "hyperbolic", "activation": "tanh"}),
    "nodeformer": (NodeFormer, {"gumbel_samples": 3, "num_heads": 2}),
    "nodeformer jk": (NodeFormer, {"gumbel_samples": 0, "relational_activation": "identity", "jumping_knowledge": True}),
}


@pytest.mark.parametrize("name", METHODS)
def test_stacked_training_is_looped_training(name):
    """Every run with its own masks, noise and running statistics, and all with the same dropout rate."""
    method, arguments = METHODS[name]
    data = csbm(150, 3, 8, seed=2)
    splits = [split(data, seed=seed) for seed in range(2)]

    def runs():
        return [
            Run(method(8, 3, hidden_channels=8, **arguments).double(), part, seed, Settings(epochs=6, lr=0.01 * (seed + 1)))
            for seed, part in enumerate(splits)
        ]

    stacked, looped = fit_many(runs(), data, width=2), fit_many(runs(), data, width=1)
    for one, other in zip(stacked, looped, strict=True):
        np.testing.assert_allclose(one.history.train_loss, other.history.train_loss, rtol=1e-8)
        np.testing.assert_allclose(one.history.val_loss, other.history.val_loss, rtol=1e-8)
        assert one.test_accuracy == other.test_accuracy
        for key, value in one.model.state_dict().items():
            assert_near(value, other.model.state_dict()[key], key, tolerance=1e-7)


class Largest(TorchDispatchMode):
    """The largest number of elements of any dense tensor that is made within."""

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided:
                self.numel = max(self.numel, tensor.numel())
        return out


@pytest.mark.parametrize("name", METHODS)
def test_nothing_of_size_n_by_n_is_formed(name):
    method, arguments = METHODS[name]
    nodes = 2000
    if "num_nodes" in arguments:
        arguments = {**arguments, "num_nodes": nodes}
    data = csbm(nodes, 3, 8, degree=4, seed=2)
    model = method(8, 3, hidden_channels=8, **arguments)
    out = model(data.x, data.edge_index)  # operators are built here
    with Largest() as largest:
        out = model(data.x, data.edge_index)
        (sum(part.sum() for part in out) if isinstance(out, tuple) else out.sum()).backward()
    # Edges of A + I: 5 a node; NodeFormer has heads x features numbers at each end of each.
    assert largest.numel <= 5 * 4 * 30 * nodes < nodes**2 / 3


# ---- presets ----------------------------------------------------------------------------------------------------------
NAMES = {"gcn": GCN, "gcnii": GCNII, "linkx": LINKX, "glognn": GloGNN, "pdegcn": PDEGCN, "nodeformer": NodeFormer}


@pytest.mark.parametrize("name", NAMES)
def test_presets_build_models_and_settings(name):
    assert MODELS[name] is NAMES[name]
    tables = tomllib.loads(files("chebnet2d").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8"))
    method = NAMES[name]
    known = inspect.signature(method).parameters
    search = tables.pop("search")
    assert "default" in tables
    for table in tables.values():
        assert set(table) == {"origin", "transform", "model", "settings"}
        assert table["origin"].strip()
        arguments = {**table["model"], **({"num_nodes": 10} if "num_nodes" in known else {})}
        method(6, 3, **arguments)
        assert set(Settings.of(**table["settings"]).groups) <= set(method.groups)
    for key, values in search["model"].items():
        for value in values:
            method(6, 3, **{key: value}, **({"num_nodes": 10} if "num_nodes" in known else {}))
    for key, values in search["settings"].items():
        for value in values:
            assert set(Settings.of(**{key: value}).groups) <= set(method.groups)

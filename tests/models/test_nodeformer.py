"""NodeFormer against its published vectors and softmax attention."""

import numpy as np
import pytest
import torch

from chebnet2d._checks import InputError
from chebnet2d.kernels.random_streams import Stream, random_streams
from chebnet2d.models import NodeFormer
from chebnet2d.models.nodeformer import KernelAttention, draw_noise, draw_projection, relations_of
from example_graphs import graph
from oracle_vectors import assert_near, check_vector, load_parameters, read_vector


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

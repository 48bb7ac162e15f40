"""LINKX against its published vectors and torch_geometric's; models of one graph."""

import numpy as np
import pytest
import torch
from torch_geometric.nn.models import LINKX as ReferenceLINKX

from chebnet2d._checks import InputError
from chebnet2d.models import LINKX, GloGNN
from example_graphs import graph
from oracle_vectors import check_vector, read_vector


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

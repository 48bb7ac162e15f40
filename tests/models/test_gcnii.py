"""GCNII against its published vectors and torch_geometric's layer."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCN2Conv

from chebnet2d.graph import operator_of
from chebnet2d.models import GCNII
from chebnet2d.models.gcnii import GCNIILayer
from example_graphs import graph
from oracle_vectors import assert_near, check_vector, read_vector
from randomised_model import randomised


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

"""ChebNet2D against an MLP and the exact two-dimensional convolution."""

import copy

import pytest
import torch

import chebnet2d
from chebnet2d.graph import Spectrum, adjacency, shifted_laplacian
from chebnet2d.models import features_of
from chebnet2d.polynomials import chebyshev_nodes


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=60, classes=3, features=9, homophily=0.7, seed=2)


@pytest.mark.parametrize("rank", [None, 2])
@pytest.mark.parametrize("scaling", ["interpolation", "paper"])
def test_is_an_mlp_and_then_the_exact_2d_convolution(data, rank, scaling):
    model = chebnet2d.ChebNet2D(9, 3, hidden_channels=7, degree=5, scaling=scaling, init="xavier", rank=rank).double().eval()
    operator = shifted_laplacian(adjacency(data.edge_index, num_nodes=60), dtype=torch.float64)
    spectrum = Spectrum.of(operator)
    hidden = model.mlp(data.x.double())
    expected = spectrum.filter(hidden, model.filters(spectrum.eigenvalues))
    torch.testing.assert_close(model(data.x.double(), data.edge_index), expected, rtol=0, atol=1e-10)


def test_starts_as_its_mlp(data):
    model = chebnet2d.ChebNet2D(9, 3).eval()
    torch.testing.assert_close(model(data.x, data.edge_index), model.mlp(data.x), rtol=0, atol=1e-5)


def test_filters_at_the_nodes_are_the_parameters():
    model = chebnet2d.ChebNet2D(9, 3, degree=8, init="xavier").double()
    torch.testing.assert_close(model.filters(chebyshev_nodes(8)), model.conv.paradigm.theta.detach(), rtol=0, atol=1e-12)


def test_permutation_equivariance(data):
    model = chebnet2d.ChebNet2D(9, 3, init="xavier").double().eval()
    order = torch.randperm(60)
    inverse = torch.argsort(order)
    moved = model(data.x.double()[order], inverse[data.edge_index])
    torch.testing.assert_close(moved, model(data.x.double(), data.edge_index)[order], rtol=0, atol=1e-10)


def test_sparse_features_equal_dense_ones(data):
    model = chebnet2d.ChebNet2D(9, 3, init="xavier").eval()
    sparse = copy.copy(data)
    sparse.x = data.x * (data.x > 1.2)
    assert not isinstance(features_of(sparse), torch.Tensor)
    assert isinstance(features_of(data), torch.Tensor)
    torch.testing.assert_close(
        model.predict(sparse).probabilities, model(sparse.x, data.edge_index).softmax(1), rtol=0, atol=1e-5
    )
    already = copy.copy(data)
    already.x = sparse.x.to_sparse_csr()
    torch.testing.assert_close(model.predict(already).probabilities, model.predict(sparse).probabilities)


def test_prediction_does_not_change_the_mode(data):
    model = chebnet2d.ChebNet2D(9, 3).train()
    first, second = model.predict(data), model.predict(data)
    assert model.training
    assert torch.equal(first.probabilities, second.probabilities)
    torch.testing.assert_close(first.probabilities.sum(1), torch.ones(60))


def test_config_rebuilds_the_model():
    model = chebnet2d.ChebNet2D(9, 3, degree=3, rank=2, dropout=0.2)
    twin = chebnet2d.ChebNet2D(**model.config)
    assert twin.config == model.config
    assert {n: p.shape for n, p in twin.named_parameters()} == {n: p.shape for n, p in model.named_parameters()}


def test_groups_are_data():
    model = chebnet2d.ChebNet2D(9, 3)
    groups = {name: model.group_of(name) for name, _ in model.named_parameters()}
    assert groups["conv.paradigm.theta"] == "filter"
    assert {group for name, group in groups.items() if name.startswith("mlp")} == {"weights"}

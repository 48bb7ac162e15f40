"""Linear maps, MLPs and dropout of dense and sparse features, against torch's."""

import pytest
import scipy.interpolate
import scipy.linalg
import scipy.sparse
import scipy.special
import scipy.stats
import torch

from chebnet2d.graph import SparseOperator
from chebnet2d.kernels import Stream, random_streams
from chebnet2d.nn import MLP, Dropout, Linear, check_features
from chebnet2d.nn.features import MaskedFeatures, pattern_of
from dense_graph import F_IN, C


def sparse_features(dtype=torch.float64):
    return SparseOperator.from_scipy(scipy.sparse.random(30, 12, density=0.2, random_state=1), dtype=dtype)


def test_linear_agrees_with_torch_for_dense_and_sparse():
    layer, reference = Linear(12, 5).double(), torch.nn.Linear(12, 5).double()
    with torch.no_grad():
        reference.weight.copy_(layer.weight.T)
        reference.bias.copy_(layer.bias)
    x = sparse_features()
    torch.testing.assert_close(layer(x), reference(x.to_dense()))
    torch.testing.assert_close(layer(x.to_dense()), reference(x.to_dense()))


def test_mlp_is_dropout_linear_relu_dropout_linear():
    mlp = MLP(12, 8, 3, num_layers=2, dropout=0.3).double().eval()
    x = torch.randn(7, 12, dtype=torch.float64)
    first, second = mlp.layers
    expected = (x @ first.weight + first.bias).relu() @ second.weight + second.bias
    torch.testing.assert_close(mlp(x), expected)
    assert [float(dropout.p) for dropout in mlp.dropouts] == [0.3, 0.3]


def test_dropout_of_sparse_features_equals_dropout_of_their_values():
    x, layer, dropout = sparse_features(), Linear(12, 4).double(), Dropout(0.4)
    with random_streams([Stream(9)]):
        masked = dropout(x)
    assert isinstance(masked, MaskedFeatures)
    dense = x.to_dense()
    row, col = x.to_scipy().nonzero()
    dense[row, col] = masked.values
    torch.testing.assert_close(layer(masked), layer(dense))
    twice = dropout(masked)
    assert set((twice.values == 0).tolist()) == {True, False}
    assert dropout.eval()(x) is x


@pytest.mark.parametrize("columns", [3, 20])
def test_a_linear_layer_with_dropout_is_dropout_then_the_layer(columns):
    layer, dropout, x = Linear(9, columns).double(), Dropout(0.4), torch.randn(50, 9, dtype=torch.float64)
    results = []
    for call in (lambda: layer(x, dropout), lambda: layer(dropout(x))):
        with random_streams([Stream(1)]):
            results.append(call())
    torch.testing.assert_close(*results)
    dropout.eval()
    torch.testing.assert_close(layer(x, dropout), layer(x))


def test_features_are_checked_by_their_columns_and_dtype():
    x = sparse_features()
    masked = Dropout(0.4)(x)
    assert pattern_of(masked) is x
    assert pattern_of(x) is x
    for good in (x, x.to_dense(), masked):
        check_features("Model", good, 12)
    for bad in (x, x.to_dense(), masked, [[1.0]]):
        with pytest.raises(ValueError, match="Model: x must be an N x 11 tensor or SparseOperator, got"):
            check_features("Model", bad, 11)
    with pytest.raises(ValueError, match="Model: x must have a floating point dtype, got torch.int64"):
        check_features("Model", torch.ones(3, 12, dtype=torch.long), 12)


def test_dropout_gradient_is_the_mask():
    x = torch.randn(6, 5, requires_grad=True)
    with random_streams([Stream(1)]):
        y = Dropout(0.5)(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(gradient * x, y)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.9])
def test_relu_and_dropout_in_one(p):
    x = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    dropout = Dropout(p)
    with random_streams([Stream(1)]):
        apart = dropout(x.relu())
    with random_streams([Stream(1)]):
        together = dropout.after_relu(x)
    torch.testing.assert_close(together, apart)
    weights = torch.randn(6, 5, dtype=torch.float64)
    ours, theirs = (torch.autograd.grad((y * weights).sum(), x)[0] for y in (together, apart))
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(dropout.eval().after_relu(x), x.relu())


def test_rate_is_not_saved_and_keeps_its_precision():
    dropout = Dropout(0.1).float()
    assert dropout.state_dict() == {}
    assert dropout.p.dtype == torch.float64


def test_mlp_with_batch_norm_is_torchs(dense):
    ours = MLP(F_IN, 5, C, 3, 0.0, batch_norm=True).double()
    theirs = torch.nn.Sequential(
        torch.nn.Linear(F_IN, 5),
        torch.nn.ReLU(),
        torch.nn.BatchNorm1d(5),
        torch.nn.Linear(5, 5),
        torch.nn.ReLU(),
        torch.nn.BatchNorm1d(5),
        torch.nn.Linear(5, C),
    ).double()
    for i, layer in enumerate(ours.layers):
        theirs[3 * i].load_state_dict({"weight": layer.weight.T, "bias": layer.bias})
    for _ in range(3):
        torch.testing.assert_close(ours(dense.x), theirs(dense.x))
    torch.testing.assert_close(ours.eval()(dense.x), theirs.eval()(dense.x))
    ours.norms[0].reset_parameters()
    assert ours.norms[0].running_mean.abs().max() == 0
    assert "norms.0.num_batches_tracked" not in ours.state_dict()

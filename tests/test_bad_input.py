"""Wrong calls, each with the sentence it gets: who complains, the argument, the rule and the value."""

import json
import re

import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.data import Data

import chebnet2d
from chebnet2d.conv import ExactConv, SpectralConv
from chebnet2d.graph import SparseOperator, Spectrum, adjacency
from chebnet2d.kernels.chebyshev_filter import chebyshev_filter
from chebnet2d.nn import MLP, Dropout, Linear
from chebnet2d.polynomials import Jacobi, chebyshev_nodes, coefficient_matrix, get_basis
from chebnet2d.training import Run, fit_many
from example_graphs import l_hat, weighted

EDGES = torch.tensor([[0, 1], [1, 0]])
X = torch.randn(17, 4)


def toy(**changes):
    data = chebnet2d.data.load("csbm", nodes=30, classes=2, features=4, homophily=0.9, seed=0)
    for name, value in changes.items():
        setattr(data, name, value)
    return data


def fit(data=None, model=None, split=None, **settings):
    data = toy() if data is None else data
    model = chebnet2d.ChebNet2D(4, 2, hidden_channels=4, degree=2) if model is None else model
    return chebnet2d.fit(model, data, split or chebnet2d.data.split(toy(), "uniform", seed=0), **{"epochs": 2, **settings})


def with_nan():
    data = toy()
    data.x = data.x.clone()
    data.x[3, 1] = float("nan")
    return data


def layer(x=X, graph=EDGES, weight=None, **options):
    return chebnet2d.nn.ChebConv2D(4, 3, **options)(x, graph, weight)


class Split:
    name, seed = "mine", None

    def __init__(self, train, val, test):
        self.train, self.val, self.test = train, val, test


R = torch.arange
API = [
    # graph
    (lambda: adjacency([[0, 1]]), "edge_index must be 2 x E integers, got ndarray of shape (1, 2)"),
    (
        lambda: adjacency(torch.zeros(5, 2, dtype=torch.long)),
        "edge_index must be 2 x E integers, got ndarray of shape (5, 2). Transpose it?",
    ),
    (lambda: adjacency(torch.tensor([[0.5], [1.0]])), "edge_index must be 2 x E integers, got dtype float32"),
    (lambda: adjacency([["a"], ["b"]]), "edge_index must be 2 x E integers, got dtype <U1"),
    (lambda: adjacency([[0, 1], [2]]), "edge_index must be 2 x E integers, got [[0, 1], [2]] (list)"),
    (lambda: adjacency(torch.tensor([[-1], [0]])), "edge_index must be >= 0, got -1"),
    (lambda: adjacency(EDGES, num_nodes=1), "edge_index must be below num_nodes = 1, got 1"),
    (lambda: adjacency(EDGES, num_nodes=-3), "num_nodes must be an integer >= 0, got -3 (int)"),
    (lambda: adjacency(EDGES, num_nodes=2.0), "num_nodes must be an integer >= 0, got 2.0 (float)"),
    (lambda: adjacency(EDGES, [1.0]), "edge_weight must have one number for each of the 2 edges, got shape (1,)"),
    (lambda: adjacency(EDGES, [1.0, -0.5]), "edge_weight must be finite numbers >= 0, got -0.5 at edge 1"),
    (lambda: adjacency(EDGES, [np.nan, 1]), "edge_weight must be finite numbers >= 0, got nan at edge 0"),
    (lambda: adjacency(EDGES, [1, np.inf]), "edge_weight must be finite numbers >= 0, got inf at edge 1"),
    (lambda: adjacency(EDGES, ["heavy", "light"]), "edge_weight must be finite numbers >= 0, got ['heavy', 'light'] (list)"),
    (lambda: adjacency(EDGES, torch.ones(2, requires_grad=True)), "edge_weight must not require a gradient"),
    (lambda: adjacency(EDGES, directed="keep"), "directed must be one of 'warn', 'symmetrise', 'refuse', got 'keep'"),
    (lambda: SparseOperator.from_scipy(np.eye(3)), "matrix must be a scipy sparse matrix, got ndarray of shape (3, 3)"),
    (lambda: SparseOperator.from_torch(torch.eye(3)), "tensor must be a torch sparse tensor"),
    (lambda: l_hat() @ torch.ones(3, 2).double(), "the right factor must be a tensor with 17 rows, got Tensor of shape (3, 2)"),
    (lambda: l_hat() @ torch.ones(17, 2), "the right factor must have dtype torch.float64, got torch.float32"),
    (lambda: Spectrum.of(SparseOperator.from_scipy(scipy.sparse.eye(3))), "operator must be symmetric"),
    (lambda: Spectrum.of(l_hat()).transform(torch.ones(4)), "x must be a tensor with 17 rows, got Tensor of shape (4,)"),
    (lambda: Spectrum.of(l_hat()).filter(X, torch.ones(3)), "g must be one value, row or matrix for each of 17 eigenvalues"),
    # polynomials
    (lambda: get_basis("chebychev"), "basis must be one of 'chebyshev'"),
    (lambda: get_basis(3), "basis must be a name or a basis object, got 3 (int)"),
    (lambda: Jacobi(-2.0, 1.0), "Jacobi: a must be a finite number >= -1, got -2.0 (float)"),
    (lambda: Jacobi(-1.0, -1.0), "a and b must not both be -1"),
    (lambda: chebyshev_nodes(-1), "degree must be an integer >= 0, got -1 (int)"),
    (lambda: coefficient_matrix(3, "exact"), "scaling must be one of 'interpolation', 'paper', 'coefficients', got 'exact'"),
    # layers
    (lambda: layer(degree=-1), "ChebConv2D: degree must be an integer >= 0, got -1 (int)"),
    (lambda: layer(degree=True), "ChebConv2D: degree must be an integer >= 0, got True (bool)"),
    (lambda: layer(scaling="Interpolation"), "Did you mean 'interpolation'?"),
    (lambda: layer(init="zeros"), "ChebConv2D: init must be one of 'identity', 'xavier', got 'zeros'"),
    (lambda: layer(rank=0), "ChebConv2D: rank must be an integer >= 1, got 0 (int)"),
    (lambda: layer(x=torch.randn(17, 5)), "ChebConv2D: x must be an N x 4 tensor, got Tensor of shape (17, 5)"),
    (lambda: layer(x=torch.ones(17, 4, dtype=torch.long)), "x must have a floating point dtype, got torch.int64"),
    (lambda: layer(graph=[[0, 1], [1, 0]]), "edge_index must be a tensor, a torch sparse tensor or a SparseOperator"),
    (lambda: layer(graph=torch.tensor([[0], [17]])), "edge_index must be below num_nodes = 17, got 17"),
    (lambda: layer(graph=l_hat(), x=torch.randn(5, 4)), "the operator must be 5 x 5, as x has rows, got (17, 17)"),
    (lambda: layer(graph=l_hat(), weight=torch.ones(3)), "edge_weight must be None when the graph is a SparseOperator"),
    (lambda: layer(graph=torch.eye(3).to_sparse()), "the sparse graph must be 17 x 17, as x has rows, got (3, 3)"),
    (lambda: SpectralConv(4, 3, paradigm="I"), "out_channels must equal in_channels = 4, got 3"),
    (lambda: SpectralConv(4, 3, paradigm="IV"), "paradigm must be one of 'I', 'II', 'III', '2d', 'rank', got 'IV'"),
    (lambda: SpectralConv(4, 3, paradigm="rank"), "rank must be given for paradigm 'rank' and only for it"),
    (lambda: SpectralConv(4, 3, rank=2), "rank must be given for paradigm 'rank' and only for it, got rank=2 with '2d'"),
    (
        lambda: SpectralConv(4, 3, basis="legendre", scaling="interpolation"),
        "scaling must be 'coefficients' for the basis 'legendre'",
    ),
    (
        lambda: SpectralConv(4, 3, basis="orthonormal").response(torch.zeros(2)),
        "basis must be fixed, got 'orthonormal', which depends on the signal",
    ),
    (lambda: SpectralConv(4, 3).response(torch.tensor([1.5])), "frequencies must be in [-1, 1], got 1.5"),
    (lambda: SpectralConv(4, 3).response(torch.tensor([float("nan")])), "frequencies must be in [-1, 1], got nan"),
    (lambda: SpectralConv(4, 3).response(torch.tensor(0)), "frequencies must be a vector of numbers in [-1, 1]"),
    (lambda: ExactConv(4, 3, l_hat()), "spectrum must be a Spectrum"),
    (
        lambda: chebyshev_filter(SparseOperator.from_scipy(scipy.sparse.eye(17)), X, torch.ones(2, 4)),
        "operator must be symmetric",
    ),
    (lambda: Dropout(1.0), "Dropout: p must be a number in [0, 1), got 1.0 (float)"),
    (lambda: Linear(4, 2)(torch.ones(3, 5)), "x must be of 4 columns, got Tensor of shape (3, 5)"),
    (lambda: MLP(4, 0, 2), "hidden_channels must be an integer >= 1, got 0 (int)"),
    # model, training
    (lambda: chebnet2d.ChebNet2D(4, 2, dropout="half"), "p must be a number in [0, 1), got 'half'"),
    (lambda: chebnet2d.ChebNet2D(4, 2)(torch.ones(3, 5), EDGES), "ChebNet2D: x must be an N x 4 tensor or SparseOperator"),
    (lambda: fit(with_nan()), "data.x must be finite, got NaN or infinite values"),
    (lambda: fit(toy(x=None)), "x must be an N x F tensor of features, got None"),
    (lambda: fit(toy(y=None)), "data.y must be 30 integer class labels"),
    (lambda: fit(toy(y=torch.rand(30))), "data.y must be 30 integer class labels"),
    (lambda: fit(toy(y=torch.full((30,), 5))), "labels must be below the model's 2 classes, got 5"),
    (lambda: fit(split=Split(R(3), R(3), torch.tensor([99]))), "split.test must hold nodes below 30, got 99"),
    (lambda: fit(split=Split(R(0), R(3), R(3))), "split.train must not be empty, got 0 nodes"),
    (lambda: fit(split=Split([1], R(3), R(3))), "split.train must be a vector of node indices, got [1] (list)"),
    (lambda: fit(toy(y=torch.full((30,), -1))), "split.train must hold labelled nodes only"),
    (lambda: fit(model=torch.nn.Sequential()), "the model must take (x, edge_index, edge_weight)"),
    (lambda: fit(lr=-1.0), "Settings: lr must be a finite number >= 0, got -1.0 (float)"),
    (lambda: fit(filter_lr=float("nan")), "Settings: filter_lr must be a finite number >= 0, got nan (float)"),
    (lambda: fit(epochs=0), "epochs must be an integer >= 1, got 0 (int)"),
    (lambda: fit(patience=1.5), "patience must be an integer >= 1, got 1.5 (float)"),
    (lambda: fit(monitor="acc"), "monitor must be one of 'accuracy', 'loss', got 'acc'"),
    (lambda: fit(learning_rate=0.1), "got 'learning_rate'"),
    (lambda: fit(seed=-1), "seed must be an integer >= 0, got -1 (int)"),
    (
        lambda: fit_many([Run(chebnet2d.ChebNet2D(4, 2), chebnet2d.data.split(toy(), "uniform", seed=0))], toy(), width=0),
        "width must be an integer >= 1, got 0",
    ),
    (lambda: chebnet2d.save(torch.nn.Linear(2, 2), "nowhere"), "save: model must be a model of this library"),
    (lambda: chebnet2d.load("nowhere"), "path must be a folder written by save, got 'nowhere' without a config.json"),
    (
        lambda: chebnet2d.plots.plot_filters(torch.nn.Linear(2, 2)),
        "model must have one convolution by polynomials, whose filters can be drawn, got Linear",
    ),
    (
        lambda: chebnet2d.plots.save_figure(chebnet2d.plots.plot_filters(chebnet2d.ChebNet2D(4, 2)), "nowhere.doc"),
        "save_figure: path must end in .png, .pdf or .svg, got 'nowhere.doc'",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), API, ids=[sentence[:60] for _, sentence in API])
def test_wrong_calls(call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(chebnet2d.InputError, match=re.escape(sentence)) as caught:
        call()
    assert "\n" not in str(caught.value), "one sentence, one line"
    assert list(tmp_path.iterdir()) == [], "bad input changes nothing"


def test_the_table_is_long_enough():
    assert len(API) >= 40


def test_errors_are_value_errors_and_type_errors():
    for kind in (ValueError, TypeError):
        with pytest.raises(kind):
            chebnet2d.nn.ChebConv2D(4, 3, degree="ten")


def test_weighted_data_of_the_wrong_length():
    edge_index, _, nodes = weighted()
    data = Data(x=torch.randn(nodes, 4), edge_index=edge_index, edge_weight=torch.ones(3), y=torch.zeros(nodes, dtype=torch.long))
    with pytest.raises(chebnet2d.InputError, match="edge_weight must have one number for each of the 40 edges"):
        fit(data, split=Split(R(5), R(5, 8), R(8, 10)))


def test_describe_is_short():
    with pytest.raises(chebnet2d.InputError) as caught:
        get_basis(json.dumps(list(range(1000))))
    assert len(str(caught.value)) < 300

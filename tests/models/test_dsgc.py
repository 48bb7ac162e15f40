"""DSGC against dense filters and counted co-occurrences."""

import numpy as np
import pytest
import torch

from chebnet2d import models
from chebnet2d.graph import SparseOperator
from chebnet2d.models import dsgc
from chebnet2d.models.dsgc import column_filter, positive_pmi
from dense_graph import F_IN, C, N, close, numpy, ready


def words(seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).poisson(0.5, (N, F_IN)).astype(float))


def test_positive_pmi_by_counting():
    x = words().numpy()
    x[:, 5] = 0  # a word that nobody uses
    counts = np.zeros((F_IN, F_IN))
    for i in range(F_IN):
        for j in range(F_IN):
            counts[i, j] = 0 if i == j else sum(1 for row in x if row[i] > 0 and row[j] > 0)
    expected = np.zeros_like(counts)
    for i, j in zip(*counts.nonzero(), strict=True):
        expected[i, j] = max(0, np.log(counts[i, j] * counts.sum() / (counts[i].sum() * counts[:, j].sum())))
    np.testing.assert_allclose(positive_pmi(torch.from_numpy(x)).toarray(), expected, atol=1e-12)
    assert expected.any()


@pytest.mark.parametrize("rows", ["rw", "lp", "none"])
@pytest.mark.parametrize("columns", ["ppmi", "lazy", "none"])
def test_dsgc_against_dense_filters(dense, rows, columns):
    x = words()
    model = ready(models.DSGC(F_IN, C, 5, rows=rows, columns=columns, alpha=0.5))
    loops = dense.a + np.eye(N)
    walk = loops / loops.sum(1, keepdims=True)
    low = 0.5 / 1.5 * sum(np.linalg.matrix_power(dense.p_loops / 1.5, i) for i in range(8))
    g = {"rw": walk @ walk, "lp": low, "none": np.eye(N)}[rows]
    m = positive_pmi(x).toarray() + (np.eye(F_IN) if columns == "lazy" else 0)
    scale = 1 / np.sqrt(m.sum(1))
    f = {"ppmi": scale[:, None] * m * scale, "lazy": (np.eye(F_IN) + scale[:, None] * m * scale) / 2, "none": np.eye(F_IN)}[
        columns
    ]
    u = g @ x.numpy() @ f
    close(model.smooth(x, *dense.inputs[1:]), u)
    hidden = np.maximum(u @ numpy(model.first.weight) + numpy(model.first.bias), 0)
    close(model(x, *dense.inputs[1:]), hidden @ numpy(model.second.weight) + numpy(model.second.bias))


@pytest.mark.parametrize("sparse", [False, True])
def test_dsgc_mixes_features_once_on_small_graphs(dense, sparse):
    """Two ways to compute the same: F on the features, where they have fewer numbers than F, or on the weights."""
    x = (torch.rand(N, 80, generator=torch.Generator().manual_seed(1)) < 0.3).double()  # F has more than N x F entries
    model = ready(models.DSGC(x.shape[1], C, 5))
    given = SparseOperator.from_dense(x) if sparse else x
    assert column_filter(x, "ppmi").nnz > x.numel()
    loss = lambda features: model(features, *dense.inputs[1:]).square().sum()
    ours = torch.autograd.grad(loss(given), list(model.parameters()))
    leaf = x.clone().requires_grad_()  # features with a gradient are never mixed beforehand
    theirs = torch.autograd.grad(loss(leaf), [*model.parameters(), leaf])
    for mine, other in zip(ours, theirs, strict=False):
        close(mine, other)
    assert theirs[-1].any()


def test_dsgc_remembers_its_filter_while_x_is_unchanged(dense, monkeypatch):
    calls = []
    monkeypatch.setattr(dsgc, "column_filter", lambda x, columns: calls.append(columns) or column_filter(x, columns))
    model, x = models.DSGC(F_IN, C).double().eval(), words()
    first = model(x, *dense.inputs[1:])
    model(x, *dense.inputs[1:])
    assert calls == ["ppmi"]
    x[:, 0] = 1 - x[:, 0]
    assert not torch.equal(model(x, *dense.inputs[1:]), first)
    assert calls == ["ppmi", "ppmi"]

"""The series of powers by Horner's scheme against dense powers, in values and gradients."""

import pytest
import scipy.sparse
import torch
from torch.autograd import gradcheck

from chebnet2d.graph import SparseOperator
from chebnet2d.nn.diffused_product import diffused_product

NODES, FEATURES, CHANNELS, TERMS, RUNS = 14, 6, 3, 4, 3


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def operator(symmetric: bool = True) -> SparseOperator:
    matrix = scipy.sparse.random(NODES, NODES, 0.3, random_state=0, dtype=float)
    matrix = (matrix + matrix.T) / 2 if symmetric else matrix
    return SparseOperator.from_scipy(matrix, dtype=torch.float64, symmetric=symmetric)


def features(sparse: bool) -> torch.Tensor | SparseOperator:
    x = draw(NODES, FEATURES) * (draw(NODES, FEATURES, seed=1) > 0)
    return SparseOperator.from_dense(x) if sparse else x


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("terms", [1, 2, TERMS])
@pytest.mark.parametrize("channels", [CHANNELS, 40])
@pytest.mark.parametrize("sparse", [True, False])
def test_equals_dense_powers(sparse, channels, terms, symmetric):
    graph, x = operator(symmetric), features(sparse)
    shares, weight = draw(terms, FEATURES, seed=2).requires_grad_(), draw(FEATURES, channels, seed=3).requires_grad_()
    dense_graph, dense_x = graph.to_dense(), x.to_dense() if isinstance(x, SparseOperator) else x
    expected = sum(torch.linalg.matrix_power(dense_graph, k) @ dense_x @ torch.diag(shares[k]) @ weight for k in range(terms))
    found = diffused_product(graph, x, shares, weight)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(*(torch.autograd.grad((z**3).sum(), (shares, weight)) for z in (found, expected)), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


def test_gradcheck_with_the_signal():
    graph = operator(symmetric=False)
    given = draw(NODES, FEATURES), draw(TERMS, FEATURES, seed=2), draw(FEATURES, CHANNELS, seed=3)
    assert gradcheck(lambda *tensors: diffused_product(graph, *tensors), [tensor.requires_grad_() for tensor in given])


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("dims", [(0, 0), (1, 2), (None, 0), (0, None)])
def test_a_stack_equals_its_runs(sparse, dims):
    graph, x = operator(), features(sparse)
    parts = [draw(RUNS, TERMS, FEATURES, seed=2).requires_grad_(), draw(RUNS, FEATURES, CHANNELS, seed=3).requires_grad_()]
    own = [[t[0] if d is None else t[r] for t, d in zip(parts, dims, strict=True)] for r in range(RUNS)]
    apart = torch.stack([diffused_product(graph, x, *pair) for pair in own])
    given = [t[0] if d is None else t.movedim(0, d) for t, d in zip(parts, dims, strict=True)]
    together = torch.func.vmap(lambda a, b: diffused_product(graph, x, a, b), in_dims=dims)(*given)
    torch.testing.assert_close(together, apart)
    for ours, theirs in zip(*(torch.autograd.grad((z**3).sum(), parts) for z in (together, apart)), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_stack_of_signals_equals_its_runs():
    graph, x = operator(), draw(RUNS, NODES, FEATURES).requires_grad_()
    shares, weight = draw(RUNS, TERMS, FEATURES, seed=2), draw(RUNS, FEATURES, CHANNELS, seed=3)
    apart = torch.stack([diffused_product(graph, *one) for one in zip(x, shares, weight, strict=True)])
    together = torch.func.vmap(lambda *one: diffused_product(graph, *one))(x, shares, weight)
    torch.testing.assert_close(together, apart)
    torch.testing.assert_close(*(torch.autograd.grad((z**3).sum(), x)[0] for z in (together, apart)))

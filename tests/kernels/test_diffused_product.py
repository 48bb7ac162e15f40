"""The series of powers, by Horner's scheme and from a kept walk, against dense powers, in values and gradients."""

import pytest
import scipy.sparse
import torch
from torch.autograd import gradcheck

from chebnet2d.graph import SparseOperator
from chebnet2d.kernels import kept_walk
from chebnet2d.kernels.diffused_product import diffused_product
from chebnet2d.kernels.kept_walk import can_keep_walk, kept_walk_product

NODES, FEATURES, CHANNELS, TERMS, RUNS = 14, 6, 3, 4, 3
WAYS = [(True, diffused_product), (False, diffused_product), (False, kept_walk_product)]


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
@pytest.mark.parametrize(("sparse", "product"), WAYS)
def test_equals_dense_powers(sparse, product, channels, terms, symmetric):
    graph, x = operator(symmetric), features(sparse)
    shares, weight = draw(terms, FEATURES, seed=2).requires_grad_(), draw(FEATURES, channels, seed=3).requires_grad_()
    dense_graph, dense_x = graph.to_dense(), x.to_dense() if isinstance(x, SparseOperator) else x
    expected = sum(torch.linalg.matrix_power(dense_graph, k) @ dense_x @ torch.diag(shares[k]) @ weight for k in range(terms))
    found = product(graph, x, shares, weight)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(*(torch.autograd.grad((z**3).sum(), (shares, weight)) for z in (found, expected)), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


def test_gradcheck_with_the_signal():
    graph = operator(symmetric=False)
    given = draw(NODES, FEATURES), draw(TERMS, FEATURES, seed=2), draw(FEATURES, CHANNELS, seed=3)
    assert gradcheck(lambda *tensors: diffused_product(graph, *tensors), [tensor.requires_grad_() for tensor in given])


@pytest.mark.parametrize(("sparse", "product"), WAYS)
@pytest.mark.parametrize("dims", [(0, 0), (1, 2), (None, 0), (0, None)])
def test_a_stack_equals_its_runs(sparse, product, dims):
    graph, x = operator(), features(sparse)
    parts = [draw(RUNS, TERMS, FEATURES, seed=2).requires_grad_(), draw(RUNS, FEATURES, CHANNELS, seed=3).requires_grad_()]
    own = [[t[0] if d is None else t[r] for t, d in zip(parts, dims, strict=True)] for r in range(RUNS)]
    apart = torch.stack([product(graph, x, *pair) for pair in own])
    given = [t[0] if d is None else t.movedim(0, d) for t, d in zip(parts, dims, strict=True)]
    together = torch.func.vmap(lambda a, b: product(graph, x, a, b), in_dims=dims)(*given)
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


def test_a_walk_is_made_anew_for_another_graph_other_terms_and_written_features():
    x = features(sparse=False)
    shares, weight = draw(TERMS, FEATURES, seed=2), draw(FEATURES, CHANNELS, seed=3)
    for graph in (operator(), operator(symmetric=False)):
        for terms in (TERMS, 2):
            expected = diffused_product(graph, x, shares[:terms], weight)
            torch.testing.assert_close(kept_walk_product(graph, x, shares[:terms], weight), expected)
    x[3] += 1
    torch.testing.assert_close(
        kept_walk_product(graph, x, shares, weight), diffused_product(graph, x, shares, weight), rtol=1e-12, atol=1e-12
    )


def test_a_walk_is_computed_once(monkeypatch):
    graph, x = operator(), features(sparse=False)
    shares, weight = draw(TERMS, FEATURES, seed=2), draw(FEATURES, CHANNELS, seed=3)
    first = kept_walk_product(graph, x, shares, weight)
    monkeypatch.setattr(SparseOperator, "__matmul__", lambda *_: pytest.fail("a product with the graph"))
    assert torch.equal(kept_walk_product(graph, x, shares, weight), first)


def test_a_walk_made_in_inference_serves_in_training():
    graph, x = operator(), features(sparse=False)
    shares, weight = draw(TERMS, FEATURES, seed=2).requires_grad_(), draw(FEATURES, CHANNELS, seed=3)
    with torch.inference_mode():
        kept_walk_product(graph, x, shares, weight)
    ours, theirs = (
        torch.autograd.grad(product(graph, x, shares, weight).sum(), shares)[0]
        for product in (kept_walk_product, diffused_product)
    )
    torch.testing.assert_close(ours, theirs)


def test_what_walk_is_kept(monkeypatch):
    x = features(sparse=False)
    assert can_keep_walk(x, TERMS)
    assert not can_keep_walk(x.clone().requires_grad_(), TERMS)
    assert not can_keep_walk(features(sparse=True), TERMS)
    monkeypatch.setattr(kept_walk, "LARGEST_WALK", 8 * TERMS * NODES * FEATURES - 1)
    assert not can_keep_walk(x, TERMS)

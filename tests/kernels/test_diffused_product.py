"""The series of powers of a graph, by Horner's scheme and from a kept walk."""

import pytest
import torch

from chebnet2d.graph import SparseOperator
from chebnet2d.kernels import can_keep_walk, diffused_product, kept_walk, kept_walk_product
from chebnet2d.kernels.diffused_product import _OfDense, _OfSparse
from chebnet2d.kernels.kept_walk import _Mix
from kernel_suite import Case, KernelSuite, draw, graph

FEATURES, TERMS = 6, 4


def features(nodes, seed=0):
    return draw(nodes, FEATURES, seed=seed) * (draw(nodes, FEATURES, seed=seed + 50) > 0)


def parameters(seed, terms=TERMS, channels=3):
    return draw(terms, FEATURES, seed=seed + 20), draw(FEATURES, channels, seed=seed + 30)


def dense_series(dense, x, shares, weight):
    return sum(torch.linalg.matrix_power(dense, k) @ x @ torch.diag(share) @ weight for k, share in enumerate(shares))


VARIANTS = {
    "symmetric": {},
    "not symmetric": {"symmetric": False},
    "one term": {"terms": 1},
    "two terms": {"terms": 2},
    "wide": {"channels": 20, "terms": 2},
}


class TestOfDense(KernelSuite):
    functions = (_OfDense,)
    variants = VARIANTS

    @classmethod
    def case(cls, nodes, symmetric=True, **sizes):
        operator = graph(nodes, symmetric=symmetric)
        dense = operator.to_dense()
        return Case(
            lambda *given: diffused_product(operator, *given),
            lambda *given: dense_series(dense, *given),
            lambda seed: (features(nodes, seed), *parameters(seed, **sizes)),
        )


class TestOfSparse(KernelSuite):
    functions = (_OfSparse,)
    variants = VARIANTS

    @classmethod
    def case(cls, nodes, symmetric=True, **sizes):
        operator, x = graph(nodes, symmetric=symmetric), features(nodes)
        dense, stored = operator.to_dense(), SparseOperator.from_dense(x)
        return Case(
            lambda *given: diffused_product(operator, stored, *given),
            lambda *given: dense_series(dense, x, *given),
            lambda seed: parameters(seed, **sizes),
        )


class TestKeptWalk(KernelSuite):
    functions = (_Mix,)
    twice = True
    variants = VARIANTS

    @classmethod
    def case(cls, nodes, symmetric=True, **sizes):
        operator, x = graph(nodes, symmetric=symmetric), features(nodes)
        dense = operator.to_dense()
        return Case(
            lambda *given: kept_walk_product(operator, x, *given),
            lambda *given: dense_series(dense, x, *given),
            lambda seed: parameters(seed, **sizes),
        )


def test_a_walk_is_made_anew_for_another_graph_other_terms_and_written_features():
    x, (shares, weight) = features(13), parameters(0)
    for operator in (graph(13), graph(13, symmetric=False)):
        for terms in (TERMS, 2):
            expected = diffused_product(operator, x, shares[:terms], weight)
            torch.testing.assert_close(kept_walk_product(operator, x, shares[:terms], weight), expected)
    x[3] += 1
    torch.testing.assert_close(kept_walk_product(operator, x, shares, weight), diffused_product(operator, x, shares, weight))


def test_a_walk_is_computed_once(monkeypatch):
    operator, x, given = graph(13), features(13), parameters(0)
    first = kept_walk_product(operator, x, *given)
    monkeypatch.setattr(SparseOperator, "__matmul__", lambda *_: pytest.fail("a product with the graph"))
    assert torch.equal(kept_walk_product(operator, x, *given), first)


def test_a_walk_made_in_inference_serves_in_training():
    operator, x, (shares, weight) = graph(13), features(13), parameters(0)
    shares.requires_grad_()
    with torch.inference_mode():
        kept_walk_product(operator, x, shares, weight)
    ours, theirs = (
        torch.autograd.grad(product(operator, x, shares, weight).sum(), shares)[0]
        for product in (kept_walk_product, diffused_product)
    )
    torch.testing.assert_close(ours, theirs)


def test_what_walk_is_kept(monkeypatch):
    x = features(13)
    assert can_keep_walk(x, TERMS)
    assert not can_keep_walk(x.clone().requires_grad_(), TERMS)
    assert not can_keep_walk(SparseOperator.from_dense(x), TERMS)
    monkeypatch.setattr(kept_walk, "LARGEST_WALK", 8 * TERMS * x.numel() - 1)
    assert not can_keep_walk(x, TERMS)

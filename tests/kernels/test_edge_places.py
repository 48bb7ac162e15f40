"""The entries of a normalised matrix as functions of edge weights."""

import torch

from chebnet2d.graph.learned_operator import EdgePlaces, _Larger, _Normalized
from kernel_suite import Case, KernelSuite, draw, graph


def places_of(nodes):
    """The places of a graph, and the row and the column of each entry."""
    pattern = graph(nodes)
    row = torch.repeat_interleave(torch.arange(nodes), pattern.csr.crow_indices().long().diff())
    col = pattern.csr.col_indices().long()
    off = row != col
    edges = torch.stack([row[off], col[off]])
    places = EdgePlaces.of(edges, nodes, loops=False, dtype=torch.float64, directed="symmetrise")
    return places, edges


def case_of(function, nodes, formula, inputs):
    """``formula``: of the dense matrix that has the entries."""
    places, (row, col) = places_of(nodes)

    def truth(entries):
        dense = torch.zeros(nodes, nodes, dtype=torch.float64).index_put((row, col), entries)
        return formula(dense)[row, col]

    return Case(lambda entries: function.apply(places, entries), truth, lambda seed: (inputs(draw(len(row), seed=seed)),))


class TestLarger(KernelSuite):
    functions = (_Larger,)
    twice = True

    @classmethod
    def case(cls, nodes):
        return case_of(_Larger, nodes, lambda dense: torch.maximum(dense, dense.T), lambda drawn: drawn)


class TestNormalized(KernelSuite):
    functions = (_Normalized,)
    twice = True

    @classmethod
    def case(cls, nodes):
        def formula(dense):
            degree = dense.sum(dim=1)
            scale = torch.where(degree > 0, torch.where(degree > 0, degree, 1.0).rsqrt(), 0.0)
            return scale[:, None] * dense * scale

        # Not symmetric: every entry has a gradient of its own.
        return case_of(_Normalized, nodes, formula, lambda drawn: drawn.abs() + 0.1)


def test_equal_weights_share_the_gradient():
    places, (row, _) = places_of(13)
    entries = torch.ones(len(row), dtype=torch.float64, requires_grad=True)
    weights = torch.arange(len(row), dtype=torch.float64)
    (_Larger.apply(places, entries) * weights).sum().backward()
    torch.testing.assert_close(entries.grad, (weights + weights[places.transposed]) / 2)

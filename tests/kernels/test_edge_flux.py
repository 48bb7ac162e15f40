"""The flux along edges in blocks of edges, against dense operations with the same masks."""

import numpy as np
import scipy.sparse
import torch

from chebnet2d.graph import SparseOperator
from chebnet2d.kernels import EdgeBlocks, edge_flux, keep_mask
from chebnet2d.kernels.edge_flux import _EdgeFlux
from kernel_suite import Case, KernelSuite, draw, rate


def edge_gradient(nodes):
    """3 N + 2 weighted edges: w (x_i - x_j)."""
    edges, generator = 3 * nodes + 2 if nodes else 0, np.random.default_rng(0)
    ends, weights = generator.integers(max(nodes, 1), size=(2, edges)), generator.uniform(0.5, 1.5, edges)
    rows = np.concatenate([np.arange(edges)] * 2)
    entries = np.concatenate([weights, -weights])
    matrix = scipy.sparse.coo_array((entries, (rows, ends.reshape(-1))), shape=(edges, nodes))
    return SparseOperator.from_scipy(matrix, dtype=torch.float64)


def in_small_blocks(gradient, size):
    matrix = gradient.to_scipy()
    parts = [SparseOperator.from_scipy(matrix[i : i + size], dtype=torch.float64) for i in range(0, matrix.shape[0], size)]
    return EdgeBlocks(matrix.shape[0], tuple((part, part.T) for part in parts))


def dense_flux(gradient, x, weight, p):
    along = gradient @ x
    return gradient.T @ ((along * keep_mask(along.shape, p, x)) @ weight.T).relu()


class TestEdgeFlux(KernelSuite):
    functions = (_EdgeFlux,)
    variants = {  # noqa: RUF012
        "one block": {},
        "small blocks, the last not full": {"size": 16},
        "no dropout": {"first": 1, "size": 24},
        "one channel": {"channels": 1},
    }

    @classmethod
    def case(cls, nodes, size=None, first=0, channels=3):
        gradient = edge_gradient(nodes)
        blocks, dense = EdgeBlocks.of(gradient) if size is None else in_small_blocks(gradient, size), gradient.to_dense()
        return Case(
            lambda *given: edge_flux(blocks, *given),
            lambda *given: dense_flux(dense, *given),
            lambda seed: (draw(nodes, channels, seed=seed), draw(channels, channels, seed=seed + 10), rate(seed + first)),
            constant=(2,),
        )


def test_a_graph_without_edges_has_no_flux():
    blocks = EdgeBlocks.of(SparseOperator.from_dense(torch.zeros(0, 5, dtype=torch.float64)))
    x = draw(5, 4).requires_grad_()
    out = edge_flux(blocks, x, draw(4, 4), rate(0))
    out.sum().backward()
    assert out.shape == (5, 4)
    assert not out.any()
    assert not x.grad.any()

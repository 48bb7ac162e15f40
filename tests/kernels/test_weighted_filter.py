"""Chebyshev filters of a matrix whose entries have a gradient."""

import pytest
import torch

from chebnet2d.kernels import weighted_filter
from chebnet2d.kernels.weighted_filter import _WeightedFilter, _WeightedGradients
from kernel_suite import Case, KernelSuite, draw, graph
from test_chebyshev_filter import dense_filter


class TestWeighted(KernelSuite):
    functions = (_WeightedFilter, _WeightedGradients)
    variants = {  # noqa: RUF012
        "full": {"shape": (3, 2), "degree": 4},
        "degree 0": {"shape": (3, 2), "degree": 0},
        "degree 1": {"shape": (2, 2), "degree": 1},
        "several blocks of columns": {"shape": (5, 3), "degree": 7},
        "one filter per channel": {"shape": (3,), "degree": 3},
        "one filter": {"shape": (1,), "degree": 3},
        "a directed graph": {"shape": (3, 2), "degree": 3, "symmetric": False},
    }

    @classmethod
    def case(cls, nodes, shape, degree, symmetric=True):
        pattern = graph(nodes, symmetric=symmetric)
        crow, col = pattern.csr.crow_indices().long(), pattern.csr.col_indices().long()
        row = torch.repeat_interleave(torch.arange(nodes), crow.diff())
        channels = 3 if len(shape) == 1 else shape[0]

        def truth(values, x, maps):
            dense = torch.zeros(nodes, nodes, dtype=torch.float64).index_put((row, col), values)
            every = torch.diag_embed(maps.expand(-1, channels)) if maps.dim() == 2 else maps
            return dense_filter(dense, x, every) + 0 * values.sum()  # degree 0 does not depend on the values

        def inputs(seed):
            # Not symmetric, though the places may be: every entry has a gradient of its own.
            values = pattern.values * (0.5 + 0.5 * torch.rand(pattern.nnz, generator=torch.Generator().manual_seed(seed)))
            return values, draw(nodes, channels, seed=seed), draw(degree + 1, *shape, seed=seed + 10)

        return Case(lambda values, x, maps: weighted_filter(pattern, values, x, maps), truth, inputs)


@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 2)])
def test_a_gradient_per_run_inside_vmap(shape):
    pattern, x, maps = graph(13), draw(5, 13, 3), draw(5, *shape, seed=1)
    values = pattern.values * torch.rand(5, 1, dtype=torch.float64)
    gradient = torch.func.grad(lambda v, a, b: (weighted_filter(pattern, v, a, b) ** 3).sum(), argnums=(0, 1, 2))
    together = torch.func.vmap(gradient)(values, x, maps)
    for r in range(5):
        for stacked, alone in zip(together, gradient(values[r], x[r], maps[r]), strict=True):
            torch.testing.assert_close(stacked[r], alone)

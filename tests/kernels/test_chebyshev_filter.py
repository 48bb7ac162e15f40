"""Chebyshev filters, full and diagonal, and the blocks in which stacks go through them."""

import pytest
import torch

from chebnet2d.kernels import chebyshev_filter
from chebnet2d.kernels.chebyshev_filter import _Filter, _FilterGradients
from chebnet2d.kernels.column_blocks import column_blocks
from kernel_suite import Case, KernelSuite, draw, graph


def dense_filter(dense, x, maps):
    before, term, total = None, x, 0
    for d, weight in enumerate(maps):
        if d:
            before, term = term, dense @ term if d == 1 else 2 * dense @ term - before
        total = total + term @ weight
    return total


class TestFull(KernelSuite):
    functions = (_Filter, _FilterGradients)
    twice = True
    variants = {  # noqa: RUF012
        "runs share a block": {"channels": (3, 2), "degree": 4},
        "degree 0": {"channels": (3, 2), "degree": 0},
        "degree 1": {"channels": (2, 2), "degree": 1},
        "padded to a block": {"channels": (7, 5), "degree": 2},
        "wider than a block": {"channels": (17, 2), "degree": 1},
    }

    @classmethod
    def case(cls, nodes, channels, degree):
        operator = graph(nodes)
        dense = operator.to_dense()
        return Case(
            lambda x, maps: chebyshev_filter(operator, x, maps),
            lambda x, maps: dense_filter(dense, x, maps),
            lambda seed: (draw(nodes, channels[0], seed=seed), draw(degree + 1, *channels, seed=seed + 10)),
        )


class TestDiagonal(KernelSuite):
    functions = (_Filter, _FilterGradients)
    twice = True
    variants = {  # noqa: RUF012
        "one filter per channel": {"columns": 3, "degree": 4},
        "one filter": {"columns": 1, "degree": 3},
        "degree 0": {"columns": 3, "degree": 0},
    }

    @classmethod
    def case(cls, nodes, columns, degree):
        operator = graph(nodes)
        dense = operator.to_dense()
        return Case(
            lambda x, theta: chebyshev_filter(operator, x, theta),
            lambda x, theta: dense_filter(dense, x, torch.diag_embed(theta.expand(-1, 3))),
            lambda seed: (draw(nodes, 3, seed=seed), draw(degree + 1, columns, seed=seed + 10)),
        )


@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 2)])
def test_a_gradient_per_run_inside_vmap(shape):
    operator, x, maps = graph(13), draw(5, 13, 3), draw(5, *shape, seed=1)
    gradient = torch.func.grad(lambda a, b: (chebyshev_filter(operator, a, b) ** 3).sum(), argnums=(0, 1))
    together = torch.func.vmap(gradient)(x, maps)
    for r in range(5):
        for stacked, alone in zip(together, gradient(x[r], maps[r]), strict=True):
            torch.testing.assert_close(stacked[r], alone)


def test_what_is_saved_does_not_grow_with_the_degree():
    operator, x = graph(13), draw(13, 3).requires_grad_()
    for degree in (2, 16):
        saved = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t.numel()) or t, lambda t: t):
            maps = draw(degree + 1, 3, 3).requires_grad_()
            chebyshev_filter(operator, x, maps)
        assert sum(saved) == x.numel() + maps.numel()


def test_an_operator_must_be_symmetric():
    with pytest.raises(ValueError, match="chebyshev_filter: operator must be symmetric: the backward pass relies on it"):
        chebyshev_filter(graph(13, symmetric=False), draw(13, 2), draw(3, 2))


@pytest.mark.parametrize("shape", [(5, 50, 7), (3, 4000, 64), (2, 100_000, 20), (40, 50, 64), (2, 0, 3)])
def test_blocks_cover_every_column_once(shape):
    seen = torch.zeros(shape[0], 1, shape[2])
    for block in column_blocks(shape):
        block.write(block.read(seen) + 1, seen)
    assert (seen == 1).all()

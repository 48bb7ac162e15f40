"""The fused Chebyshev filter: values, gradients, stacks and what autograd keeps."""

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from chebnet2d.kernels.chebyshev_filter import chebyshev_filter
from example_graphs import l_hat


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("degree", [0, 1, 5])
class TestFusedOperation:
    def inputs(self, diagonal, degree, runs=None):
        shape = (degree + 1, 3) if diagonal else (degree + 1, 3, 2)
        lead = () if runs is None else (runs,)
        x = torch.randn(*lead, 17, 3, dtype=torch.float64, requires_grad=True)
        return x, torch.randn(*lead, *shape, dtype=torch.float64, requires_grad=True)

    def test_against_dense_polynomials(self, diagonal, degree):
        x, maps = self.inputs(diagonal, degree)
        dense = l_hat().to_dense()
        terms = [torch.eye(17, dtype=torch.float64), dense]
        for _ in range(2, degree + 1):
            terms.append(2 * dense @ terms[-1] - terms[-2])
        full = torch.diag_embed(maps) if diagonal else maps
        expected = sum(term @ x @ w for term, w in zip(terms, full, strict=False))
        torch.testing.assert_close(chebyshev_filter(l_hat(), x, maps), expected)

    def test_gradients_of_gradients(self, diagonal, degree):
        x, maps = self.inputs(diagonal, degree)
        assert gradcheck(lambda a, b: chebyshev_filter(l_hat(), a, b), (x, maps))
        assert gradgradcheck(lambda a, b: chebyshev_filter(l_hat(), a, b), (x, maps))

    def test_vmapped_equals_looped(self, diagonal, degree):
        operator = l_hat()
        x, maps = self.inputs(diagonal, degree, runs=5)
        together = torch.func.vmap(lambda a, b: chebyshev_filter(operator, a, b))(x, maps)
        looped = torch.stack([chebyshev_filter(operator, a, b) for a, b in zip(x, maps, strict=True)])
        torch.testing.assert_close(together, looped, rtol=0, atol=1e-12)
        ours = torch.autograd.grad((together**3).sum(), (x, maps))
        theirs = torch.autograd.grad((looped**3).sum(), (x, maps))
        per_run = torch.func.vmap(torch.func.grad(lambda a, b: (chebyshev_filter(operator, a, b) ** 3).sum(), argnums=(0, 1)))
        for mine, other, third in zip(ours, theirs, per_run(x, maps), strict=True):
            torch.testing.assert_close(mine, other)
            torch.testing.assert_close(third, other)

    def test_vmap_over_one_argument(self, diagonal, degree):
        operator = l_hat()
        x, maps = self.inputs(diagonal, degree, runs=4)
        shared_x = torch.func.vmap(lambda b: chebyshev_filter(operator, x[0], b))(maps)
        shared_maps = torch.func.vmap(lambda a: chebyshev_filter(operator, a, maps[0]))(x)
        torch.testing.assert_close(shared_x[2], chebyshev_filter(operator, x[0], maps[2]))
        torch.testing.assert_close(shared_maps[3], chebyshev_filter(operator, x[3], maps[0]))


def test_memory_does_not_grow_with_the_degree():
    """Autograd keeps x and the maps, and nothing for each degree."""
    operator, x = l_hat(), torch.randn(17, 3, dtype=torch.float64, requires_grad=True)
    for degree in (2, 16):
        kept = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
            maps = torch.randn(degree + 1, 3, 3, dtype=torch.float64, requires_grad=True)
            chebyshev_filter(operator, x, maps)
        assert sum(kept) == x.numel() + maps.numel()

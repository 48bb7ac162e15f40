"""Maps before the graph against maps after it, in values and gradients."""

import pytest
import torch

from chebnet2d.models.project_first import project_first
from chebnet2d.polynomials import Chebyshev, Jacobi, Legendre, Monomial
from dense_graph import N
from example_graphs import l_hat


@pytest.mark.parametrize("basis", [Chebyshev(), Monomial(), Legendre(), Jacobi(0.5, -0.25)], ids=str)
@pytest.mark.parametrize("degree", [0, 1, 5])
def test_maps_before_the_graph_give_the_same_sum(basis, degree):
    operator = l_hat()
    x = torch.randn(N, 4, dtype=torch.float64, requires_grad=True)
    maps = torch.randn(degree + 1, 4, 3, dtype=torch.float64, requires_grad=True)
    found = project_first(operator, x, lambda k: maps[k], degree, basis)
    expected = sum(term @ maps[k] for k, term in enumerate(basis.terms(lambda v: operator @ v, x, degree)))
    torch.testing.assert_close(found, expected)
    ours = torch.autograd.grad(found.square().sum(), (x, maps))
    theirs = torch.autograd.grad(expected.square().sum(), (x, maps))
    torch.testing.assert_close(ours, theirs)

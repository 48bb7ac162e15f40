"""The hand-written filter against autograd over the recurrence it stands for."""

import pytest
import scipy.sparse
import torch
from torch.autograd import gradcheck

from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.column_blocks import column_blocks
from chebnet2d.kernels.orthonormal_filter import orthonormal_filter
from chebnet2d.polynomials import SignalOrthonormal

TOLERANCE = SignalOrthonormal().tolerance


def operator(nodes: int, *, symmetric: bool = True) -> SparseOperator:
    matrix = scipy.sparse.random(nodes, nodes, 0.2, random_state=0, dtype=float)
    matrix = (matrix + matrix.T) / 4 if symmetric else matrix
    return SparseOperator.from_scipy(matrix, dtype=torch.float64, symmetric=symmetric)


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def by_autograd(graph: SparseOperator, x: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
    terms = torch.stack(list(SignalOrthonormal().terms(lambda v: graph @ v, x, theta.shape[0] - 1)))
    return (terms * theta[:, None, :]).sum(0)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("channels", "degree"), [(3, 0), (3, 1), (3, 2), (70, 6)])
def test_equals_autograd_in_values_and_gradients(channels, degree, symmetric):
    graph, weights = operator(40, symmetric=symmetric), draw(40, channels, seed=1)
    x, theta = draw(40, channels), draw(degree + 1, channels, seed=2)
    x[:, 1] = 0  # a dead channel
    x.requires_grad_()
    theta.requires_grad_()
    found = []
    for function in (by_autograd, lambda *given: orthonormal_filter(*given, TOLERANCE)):
        z = function(graph, x, theta)
        found.append([z, *torch.autograd.grad((z * weights).sum() + (z**3).sum(), (x, theta))])
    for ours, theirs in zip(found[1], found[0], strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-10)
    with torch.no_grad():
        torch.testing.assert_close(orthonormal_filter(graph, x, theta, TOLERANCE), found[0][0], rtol=1e-10, atol=1e-12)


def test_gradcheck():
    graph, x, theta = operator(12), draw(12, 2).requires_grad_(), draw(5, 2, seed=1).requires_grad_()
    assert gradcheck(lambda a, b: orthonormal_filter(graph, a, b, TOLERANCE), (x, theta))
    assert gradcheck(lambda a, b: orthonormal_filter(graph, a, b, TOLERANCE), (x, draw(5, 1, seed=1).requires_grad_()))


def test_an_exhausted_krylov_space_ends_values_and_gradients():
    graph = SparseOperator.from_scipy(scipy.sparse.diags_array([0.5, 0.5, -0.5, -0.5]), dtype=torch.float64, symmetric=True)
    x, theta = draw(4, 2).requires_grad_(), draw(6, 2, seed=1).requires_grad_()  # two eigenvalues: dimension 2
    expected = torch.autograd.grad(by_autograd(graph, x, theta).square().sum(), (x, theta))
    found = torch.autograd.grad(orthonormal_filter(graph, x, theta, TOLERANCE).square().sum(), (x, theta))
    assert (found[1][2:] == 0).all()
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dims", [(0, 0), (1, 2), (None, 1), (0, None)])
def test_a_stack_equals_its_runs(dims):
    graph, runs = operator(30), 3
    x, theta = draw(runs, 30, 4).requires_grad_(), draw(runs, 5, 4, seed=1).requires_grad_()

    def one(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return orthonormal_filter(graph, a, b, TOLERANCE)

    pick = [(lambda r, t=t, d=d: t[0] if d is None else t[r]) for t, d in zip((x, theta), dims, strict=True)]
    apart = torch.stack([one(pick[0](r), pick[1](r)) for r in range(runs)])
    given = [t[0] if d is None else t.movedim(0, d) for t, d in zip((x, theta), dims, strict=True)]
    together = torch.func.vmap(one, in_dims=dims)(*given)
    torch.testing.assert_close(together, apart)
    expected = torch.autograd.grad((apart**3).sum(), (x, theta))
    found = torch.autograd.grad((together**3).sum(), (x, theta))
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("shape", [(5, 50, 7), (3, 4000, 64), (2, 100_000, 20), (40, 50, 64)])
def test_blocks_cover_every_column_once(shape):
    seen = torch.zeros(shape[0], 1, shape[2])
    for block in column_blocks(shape):
        block.write(block.read(seen) + 1, seen)
    assert (seen == 1).all()

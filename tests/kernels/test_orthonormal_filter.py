"""The filter in the basis that is orthonormal for the signal, against autograd over the recurrence."""

import scipy.sparse
import torch

from chebnet2d.graph import SparseOperator
from chebnet2d.kernels import orthonormal_filter
from chebnet2d.kernels.orthonormal_filter import _OrthonormalFilter
from chebnet2d.polynomials import SignalOrthonormal
from kernel_suite import Case, KernelSuite, draw, graph

TOLERANCE = SignalOrthonormal().tolerance


def by_autograd(dense, x, theta):
    terms = torch.stack(list(SignalOrthonormal().terms(lambda v: dense @ v, x, theta.shape[0] - 1)))
    return (terms * theta[:, None, :]).sum(0)


class TestOrthonormalFilter(KernelSuite):
    functions = (_OrthonormalFilter,)
    variants = {  # noqa: RUF012
        "degree 4": {"degree": 4},
        "degree 0": {"degree": 0},
        "degree 1": {"degree": 1},
        "one filter": {"degree": 2, "columns": 1},
        "not symmetric": {"degree": 3, "symmetric": False},
        "wide": {"degree": 2, "channels": 17, "columns": 17},
    }

    @classmethod
    def case(cls, nodes, degree, channels=3, columns=3, symmetric=True):
        operator = graph(nodes, symmetric=symmetric)
        dense = operator.to_dense()
        return Case(
            lambda x, theta: orthonormal_filter(operator, x, theta, TOLERANCE),
            lambda x, theta: by_autograd(dense, x, theta),
            lambda seed: (draw(nodes, channels, seed=seed), draw(degree + 1, columns, seed=seed + 10)),
        )


def test_a_channel_of_zeros_stays_zero():
    operator, x, theta = graph(13), draw(13, 3), draw(5, 3, seed=1).requires_grad_()
    x[:, 1] = 0
    x.requires_grad_()
    found, expected = orthonormal_filter(operator, x, theta, TOLERANCE), by_autograd(operator.to_dense(), x, theta)
    assert not found[:, 1].any()
    for ours, theirs in zip(*(torch.autograd.grad((z**3).sum(), (x, theta)) for z in (found, expected)), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-10)


def test_an_exhausted_krylov_space_ends_values_and_gradients():
    operator = SparseOperator.from_scipy(scipy.sparse.diags_array([0.5, 0.5, -0.5, -0.5]), dtype=torch.float64, symmetric=True)
    x, theta = draw(4, 2).requires_grad_(), draw(6, 2, seed=1).requires_grad_()  # two eigenvalues: dimension 2
    expected = torch.autograd.grad(by_autograd(operator.to_dense(), x, theta).square().sum(), (x, theta))
    found = torch.autograd.grad(orthonormal_filter(operator, x, theta, TOLERANCE).square().sum(), (x, theta))
    assert (found[1][2:] == 0).all()
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)

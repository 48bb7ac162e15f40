"""Products with sparse matrices: values, gradients and stacks, against dense ones."""

import numpy as np
import scipy.sparse
import torch
from torch.autograd import gradcheck, gradgradcheck

from chebnet2d.graph import SparseOperator


def test_product_gradients_and_vmap():
    matrix = scipy.sparse.random(7, 5, density=0.4, random_state=0)
    operator = SparseOperator.from_scipy(matrix, dtype=torch.float64)
    dense = torch.from_numpy(matrix.toarray())
    x = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(operator @ x, dense @ x)
    torch.testing.assert_close(operator @ x[:, 0], dense @ x[:, 0])
    assert gradcheck(lambda v: operator @ v, (x,))
    assert gradgradcheck(lambda v: (operator @ v) ** 2, (x,))
    stack = torch.randn(4, 5, 3, dtype=torch.float64, requires_grad=True)
    together = torch.func.vmap(lambda v: operator @ v)(stack)
    torch.testing.assert_close(together, torch.einsum("nm,rmc->rnc", dense, stack))
    torch.testing.assert_close(
        torch.autograd.grad((together**2).sum(), stack)[0], 2 * torch.einsum("nm,rnc->rmc", dense, together)
    )


def test_weighted_product_gradients_and_vmap():
    matrix = scipy.sparse.random(7, 5, density=0.4, random_state=0)
    operator = SparseOperator.from_scipy(matrix, dtype=torch.float64)
    values = torch.randn(4, operator.nnz, dtype=torch.float64)
    x = torch.randn(4, 5, 3, dtype=torch.float64, requires_grad=True)

    def dense(v):
        out = torch.zeros(7, 5, dtype=torch.float64)
        row, col = operator.to_scipy().nonzero()
        out[row, col] = v
        return out

    expected = torch.stack([dense(v) @ run for v, run in zip(values, x, strict=True)])
    ours = torch.func.vmap(operator.weighted_product)(values, x)
    torch.testing.assert_close(ours, expected)
    torch.testing.assert_close(torch.autograd.grad((ours**3).sum(), x)[0], torch.autograd.grad((expected**3).sum(), x)[0])
    torch.testing.assert_close(operator.weighted_product(values[0], x[0]), expected[0])
    assert gradcheck(lambda v: operator.weighted_product(values[0], v), (x[0].detach().requires_grad_(),))


def test_sampled_product_gradients_and_vmap():
    rng = np.random.default_rng(0)
    pattern = scipy.sparse.random_array((6, 9), density=0.4, random_state=rng, format="csr")
    operator = SparseOperator.from_scipy(pattern, dtype=torch.float64)
    rows, columns = (torch.from_numpy(index.astype(np.int64)) for index in pattern.nonzero())
    left, right = (torch.randn(3, 2, n, 4, dtype=torch.float64, requires_grad=True) for n in (6, 9))

    ours = torch.func.vmap(operator.sampled_product)(left, right)
    expected = (left @ right.mT)[..., rows, columns]
    torch.testing.assert_close(ours, expected)
    torch.testing.assert_close(operator.sampled_product(left[0, 0], right[0, 0]), expected[0, 0])
    for of_ours, of_expected in zip(
        torch.autograd.grad(ours.square().sum(), (left, right)),
        torch.autograd.grad(expected.square().sum(), (left, right)),
        strict=True,
    ):
        torch.testing.assert_close(of_ours, of_expected)
    assert gradcheck(operator.sampled_product, (left[0].detach().requires_grad_(), right[0].detach().requires_grad_()))
    torch.testing.assert_close(
        torch.func.vmap(operator.sampled_product, in_dims=(0, None))(left, right[0])[1],
        operator.sampled_product(left[1], right[0]),
    )

"""sum_d T_d(L_hat) F diag(theta_d) as one autograd function: one filter per channel.

The columns are independent of each other: a block of them goes through all degrees while it is in the cache.
"""

from typing import Any

import torch
from torch import Tensor

from chebnet2d._stacks import with_runs
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.chebyshev_terms import chebyshev_terms
from chebnet2d.kernels.column_blocks import column_blocks


class DiagonalFilter(torch.autograd.Function):
    """x: N x C and theta: (D + 1) x C, or x: N x R x C and theta: (D + 1) x R x C; theta may have one column for all channels."""

    @staticmethod
    def forward(operator: SparseOperator, x: Tensor, theta: Tensor) -> Tensor:
        out = torch.empty_like(x)
        signal, weights, result = _runs_first(x, theta, out)
        for block in column_blocks(signal.shape):
            numbers = block.read_rows(weights)
            terms = chebyshev_terms(operator, block.read(signal), theta.shape[0] - 1)
            z = next(terms) * numbers[0]
            for term, number in zip(terms, numbers[1:], strict=True):
                z.addcmul_(term, number)
            block.write(z, result)
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[SparseOperator, Tensor, Tensor], output: Tensor) -> None:
        ctx.operator, x, theta = inputs
        ctx.save_for_backward(x, theta)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, theta = ctx.saved_tensors
        grad_x, grad_theta = DiagonalFilterBackward.apply(ctx.operator, grads[0], x, theta)
        return None, grad_x, grad_theta

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, x: Tensor, theta: Tensor) -> tuple[Tensor, int]:
        return DiagonalFilter.apply(operator, *with_runs(info, in_dims[1:], x, theta, at=1)), 1


class DiagonalFilterBackward(torch.autograd.Function):
    """The gradient as a function of its own, so that it can be differentiated again."""

    @staticmethod
    def forward(operator: SparseOperator, grad: Tensor, x: Tensor, theta: Tensor) -> tuple[Tensor, Tensor]:
        out, sums = torch.empty_like(grad), grad.new_empty(theta.shape[0], *grad.shape[1:])
        signal, weights, result = _runs_first(grad, theta, out)
        original, _, _ = _runs_first(x, theta, x)
        of_theta = sums if sums.dim() == 3 else sums.unsqueeze(1)
        for block in column_blocks(signal.shape):
            numbers, start, own = block.read_rows(weights), block.read(original), block.read(signal)
            grad_x, work = torch.zeros_like(own), torch.empty_like(own)
            found = torch.empty_like(numbers)
            for d, term in enumerate(chebyshev_terms(operator, own, theta.shape[0] - 1)):
                grad_x.addcmul_(term, numbers[d])
                torch.sum(torch.mul(term, start, out=work), dim=0, out=found[d])
            block.write(grad_x, result)
            block.write_rows(found, of_theta)
        return out, sums.sum_to_size(theta.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operator, grad, x, theta = inputs
        ctx.save_for_backward(grad, x, theta)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        grad, x, theta = ctx.saved_tensors
        of_x, of_theta = grads
        operator = ctx.operator
        product: Any = DiagonalFilter.apply
        to_grad = product(operator, of_x, theta) + product(operator, x, of_theta)
        to_x = product(operator, grad, of_theta)
        _, to_theta = DiagonalFilterBackward.apply(operator, grad, of_x, theta)
        return None, to_grad, to_x, to_theta

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, grad: Tensor, x: Tensor, theta: Tensor) -> Any:
        grad, x, theta = with_runs(info, in_dims[1:], grad, x, theta, at=1)
        return DiagonalFilterBackward.apply(operator, grad, x, theta), (1, 1)


def _runs_first(x: Tensor, theta: Tensor, out: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x and out as R x N x C, and theta as (D + 1) x R x C, whether or not there is a stack."""
    if x.dim() == 2:
        return x.unsqueeze(0), theta.unsqueeze(1).expand(-1, 1, x.shape[1]), out.unsqueeze(0)
    return x.transpose(0, 1), theta.expand(-1, *x.shape[1:]), out.transpose(0, 1)

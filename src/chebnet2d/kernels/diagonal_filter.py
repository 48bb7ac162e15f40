"""sum_d T_d(L_hat) F diag(theta_d), one filter per channel, and its gradients.

The columns are independent of each other: a block of them goes through all degrees while it is in the cache. x is N x C and theta
(D + 1) x C, or N x R x C and (D + 1) x R x C; theta may have one column for all channels.
"""

import torch
from torch import Tensor

from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.chebyshev_terms import chebyshev_terms
from chebnet2d.kernels.column_blocks import column_blocks


def diagonal_filter(operator: SparseOperator, x: Tensor, theta: Tensor) -> Tensor:
    if x.dim() == 2:
        return diagonal_filter(operator, x.unsqueeze(1), theta.unsqueeze(1)).squeeze(1)
    out, signal, weights = torch.empty_like(x), x.transpose(0, 1), theta.expand(-1, *x.shape[1:])
    for block in column_blocks(signal.shape):
        numbers = block.read_rows(weights)
        terms = chebyshev_terms(operator, block.read(signal), len(theta) - 1)
        z = next(terms) * numbers[0]
        for term, number in zip(terms, numbers[1:], strict=True):
            z.addcmul_(term, number)
        block.write(z, out.transpose(0, 1))
    return out


def diagonal_gradients(operator: SparseOperator, grad: Tensor, x: Tensor, theta: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of x and theta."""
    if x.dim() == 2:
        of_x, of_theta = diagonal_gradients(operator, grad.unsqueeze(1), x.unsqueeze(1), theta.unsqueeze(1))
        return of_x.squeeze(1), of_theta.squeeze(1)
    out, sums = torch.empty_like(grad), grad.new_empty(len(theta), *grad.shape[1:])
    signal, weights = grad.transpose(0, 1), theta.expand(-1, *x.shape[1:])
    for block in column_blocks(signal.shape):
        numbers, start, own = block.read_rows(weights), block.read(x.transpose(0, 1)), block.read(signal)
        grad_x, work, found = torch.zeros_like(own), torch.empty_like(own), torch.empty_like(numbers)
        for d, term in enumerate(chebyshev_terms(operator, own, len(theta) - 1)):
            grad_x.addcmul_(term, numbers[d])
            torch.sum(torch.mul(term, start, out=work), dim=0, out=found[d])
        block.write(grad_x, out.transpose(0, 1))
        block.write_rows(found, sums)
    return out, sums.sum_to_size(theta.shape)

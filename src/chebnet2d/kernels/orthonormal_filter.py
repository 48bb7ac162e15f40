"""A filter in the basis that is orthonormal for the signal, as one autograd function.

Why by hand: a step of the recurrence is one product with the graph and about ten passes over N x C numbers, and autograd saves
most of their results. Columns are independent, so a block of columns goes through all degrees while it is in the cache, in both
passes, and only the terms h_k and three numbers per step and column are saved.

The backward pass. Let g be the gradient of h_k from everything computed from it, and p = h_{k-2}, c = h_{k-1}. The step was

    v = P c,   a = <v, c>,   v' = v - a c,   b = <v', p>,   v'' = v' - b p,   s = |v''|,   h_k = v'' / s

and c, p, h_k are orthogonal to each other (they were just made so). With y = (g - <g, h_k> h_k - <g, c> c - <g, p> p) / s, the
gradient of v, and the gradients a' = -<g, c> / s of a and b' = -<g, p> / s of b,

    c gets   P^T y - a y + a' (s h_k + b p + 2 a c)        p gets   -b y + b a' c + b' (s h_k + 2 b p)

The part of the gradient of h_k along h_k itself has no effect (its length is 1), and the coefficient b a' of p in the gradient
of c is known as a number: neither needs a pass over the nodes.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from chebnet2d._stacks import with_runs
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.column_blocks import column_blocks


def orthonormal_filter(operator: SparseOperator, x: Tensor, theta: Tensor, tolerance: float) -> Tensor:
    """sum_k h_k diag(theta[k]): N x C, with the terms h_k of ``SignalOrthonormal`` for the signal x: N x C. Differentiable once.

    ``theta`` is (D + 1) x C, or (D + 1) x 1 for one filter for all channels. A column whose next term is shorter than
    ``tolerance`` has no further terms.
    """
    tape: list[Tensor] | None = [] if torch.is_grad_enabled() else None
    return _OrthonormalFilter.apply(operator, x, theta.expand(-1, x.shape[1]), tolerance, tape)


class _OrthonormalFilter(torch.autograd.Function):
    """x: N x C and theta: (D + 1) x C, or R x N x C and (D + 1) x R x C. ``tape`` collects what the backward pass needs."""

    @staticmethod
    def forward(operator: SparseOperator, x: Tensor, theta: Tensor, tolerance: float, tape: list[Tensor] | None) -> Tensor:
        stacked, weights = (x, theta) if x.dim() == 3 else (x.unsqueeze(0), theta.unsqueeze(1))
        out = torch.empty_like(stacked, memory_format=torch.contiguous_format)
        for block in column_blocks(stacked.shape):
            block.write(_forward(operator, block.read(stacked), block.read_rows(weights), tolerance, tape), out)
        return out.view(x.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        ctx.operator, _, theta, _, tape = inputs
        ctx.save_for_backward(theta, *(tape or ()))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        theta, *tape = ctx.saved_tensors
        grad = grads[0]
        stacked, weights = (grad, theta) if grad.dim() == 3 else (grad.unsqueeze(0), theta.unsqueeze(1))
        grad_x = torch.empty_like(stacked, memory_format=torch.contiguous_format)
        grad_theta = torch.empty_like(weights, memory_format=torch.contiguous_format)
        for block, terms, numbers in zip(column_blocks(stacked.shape), tape[::2], tape[1::2], strict=True):
            of_x, of_theta = _backward(ctx.operator.T, block.read(stacked), block.read_rows(weights), terms, numbers)
            block.write(of_x, grad_x)
            block.write_rows(of_theta, grad_theta)
        return None, grad_x.view(grad.shape), grad_theta.view(theta.shape), None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, x: Tensor, theta: Tensor, tolerance: float, tape: Any) -> Any:
        (x,), (theta,) = with_runs(info, [in_dims[1]], x), with_runs(info, [in_dims[2]], theta, at=1)
        return _OrthonormalFilter.apply(operator, x, theta, tolerance, tape), 0


def _forward(graph: SparseOperator, x: Tensor, theta: Tensor, tolerance: float, tape: list[Tensor] | None) -> Tensor:
    degree = theta.shape[0] - 1
    terms = x.new_empty(3 if tape is None else degree + 1, *x.shape)
    numbers = x.new_zeros(degree + 1, 3, x.shape[1])  # a, b and 1 / s of each step
    work = torch.empty_like(x)
    _unit(x, tolerance, numbers[0, 2], work, out=terms[0])
    z = terms[0] * theta[0]
    for k in range(1, degree + 1):
        a, b, inverse = numbers[k]
        current, following = terms[(k - 1) % len(terms)], terms[k % len(terms)]
        v = graph.multiply(current)
        a.copy_(_column_sums(v, current, work))
        v.addcmul_(current, a, value=-1)
        if k > 1:
            before = terms[(k - 2) % len(terms)]
            b.copy_(_column_sums(v, before, work))
            v.addcmul_(before, b, value=-1)
        _unit(v, tolerance, inverse, work, out=following)
        z.addcmul_(following, theta[k])
    if tape is not None:
        tape += [terms, numbers]
    return z


def _unit(v: Tensor, tolerance: float, inverse: Tensor, work: Tensor, out: Tensor) -> None:
    """v / |v| into ``out`` and 1 / |v| into ``inverse``; both 0 where |v| is at most ``tolerance``, that is rounding."""
    square = _column_sums(v, v, work)
    inverse.copy_(torch.where(square > tolerance**2, square.rsqrt(), 0.0))
    torch.mul(v, inverse, out=out)


def _backward(graph: SparseOperator, grad: Tensor, theta: Tensor, terms: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    degree = theta.shape[0] - 1
    work = torch.empty_like(grad)
    grad_theta = torch.empty_like(theta, memory_format=torch.contiguous_format)
    zero = torch.zeros_like(theta[0])
    g = grad * theta[degree]
    # later_*: y, b and what is needed of the gradients of a and b, of the step k + 1.
    later_y, later_b, later_of_a, later_s_of_b, share = torch.zeros_like(grad), zero, zero, zero, zero
    for k in range(degree, 0, -1):
        a, b, inverse = numbers[k]
        grad_theta[k] = _column_sums(grad, terms[k], work)
        along = [_column_sums(g, terms[j], work) for j in range(k, max(k - 3, -1), -1)]
        for j, amount in enumerate(along):
            g.addcmul_(terms[k - j], amount, value=-1)
        y = g.mul_(inverse)
        alive = inverse > 0
        s_of_a = torch.where(alive, -(along[1] + share), zero)  # s times the gradient of a
        s_of_b = torch.where(alive, -along[2], zero) if k > 1 else zero
        of_a = s_of_a * inverse
        g = graph.multiply(y)
        g.addcmul_(y, a, value=-1).addcmul_(grad, theta[k - 1])
        g.addcmul_(terms[k], s_of_a + later_b * later_of_a)
        if k < degree:
            g.addcmul_(later_y, later_b, value=-1).addcmul_(terms[k + 1], later_s_of_b)
        share = b * of_a
        later_y, later_b, later_of_a, later_s_of_b = y, b, of_a, s_of_b
    grad_theta[0] = _column_sums(grad, terms[0], work)
    g.addcmul_(terms[0], _column_sums(g, terms[0], work), value=-1)
    return g.mul_(numbers[0, 2]), grad_theta


def _column_sums(a: Tensor, b: Tensor, work: Tensor) -> Tensor:
    """<a, b> per column; ``work`` is overwritten."""
    return torch.mul(a, b, out=work).sum(0)

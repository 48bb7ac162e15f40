"""The fused operation: Z = sum_d T_d(L_hat) F W_d as one autograd function.

Why by hand. Autograd over the recurrence keeps D + 1 matrices of size N x C and walks back through them. But L_hat is
symmetric, so T_d(L_hat) is its own transpose, and with G = dLoss/dZ

    dLoss/dF   = sum_d T_d(L_hat) G W_d^T          dLoss/dW_d = F^T (T_d(L_hat) G)

are the same recurrence run on G. Only F and W need saving, the graph is read D times each way, and memory does not grow with D.

A stack of R runs (``torch.func.vmap``) is folded into columns: the recurrence runs once on N x (R C). The C x C maps of the
runs are then products of a batch, for a group of degrees at a time, since tiny products cost more than they compute:

    terms        N x R x C   --copied into-->   group   R x N x (k C)   --times-->   R x (k C) x C'
"""

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.graph import SparseOperator

# Degrees whose terms are multiplied with their maps in one batched product. More would save little (measured: 4 is within a
# few percent of the best on Cora and Tolokers) and the buffer would grow with D.
GROUP = 4


def chebyshev_filter(operator: SparseOperator, x: Tensor, maps: Tensor) -> Tensor:
    """sum_d T_d(operator) x maps[d].

    Args:
        operator: symmetric N x N with its spectrum in [-1, 1].
        x: N x C.
        maps: (D + 1) x C x C' for a map between channels at every degree, or (D + 1) x C for one number a channel
            (C' = C, diagonal maps), or (D + 1) x 1 for one number in all.
    """
    if not operator.symmetric:
        raise InputError("chebyshev_filter: operator must be symmetric: the backward pass relies on it.")
    function = _Full if maps.dim() == 3 else _Diagonal
    return cast(Tensor, function.apply(operator, x, maps))


def chebyshev_terms(operator: SparseOperator, x: Tensor, degree: int) -> Iterator[Tensor]:
    """T_0(operator) x, ..., T_degree(operator) x, without autograd. A term is to be used before the next is asked for:

    T_{d+1} = 2 L T_d - T_{d-1} is written over T_{d-1}, so that two buffers serve all degrees and no memory is handed out anew.
    """
    yield x
    if degree == 0:
        return
    before, current = x, operator.csr @ x
    yield current
    for d in range(2, degree + 1):
        following = operator.step(current, before, alpha=2.0, beta=-1.0, out=before if d > 2 else None)  # x stays
        before, current = current, following
        yield current


class _Full(torch.autograd.Function):
    """Unstacked: x is N x C and W is (D + 1) x C x C'. Stacked: x is N x R x C and W is (D + 1) x R x C x C'."""

    @staticmethod
    def forward(operator: SparseOperator, x: Tensor, maps: Tensor) -> Tensor:
        x = x.contiguous()
        if x.dim() == 3:
            return _stacked_sum(operator, x, maps)
        terms = chebyshev_terms(operator, x, maps.shape[0] - 1)
        z = next(terms) @ maps[0]
        for d, term in enumerate(terms, start=1):
            z.addmm_(term, maps[d])
        return z

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[SparseOperator, Tensor, Tensor], output: Tensor) -> None:
        ctx.operator, x, maps = inputs
        ctx.save_for_backward(x, maps)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        x, maps = ctx.saved_tensors
        grad_x, grad_maps = _FullBackward.apply(ctx.operator, grads[0], x, maps)
        return None, grad_x, grad_maps

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, x: Tensor, maps: Tensor) -> tuple[Tensor, int]:
        return _Full.apply(operator, *_fold(info, in_dims, x, maps)), 1


class _FullBackward(torch.autograd.Function):
    """The gradient as a function of its own, so that it can be differentiated again (gradgradcheck holds)."""

    @staticmethod
    def forward(operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor) -> tuple[Tensor, Tensor]:
        grad = grad.contiguous()
        if grad.dim() == 3:
            return _stacked_gradients(operator, grad, x, maps)
        grad_x = torch.zeros_like(x, memory_format=torch.contiguous_format)
        grad_maps = torch.empty_like(maps, memory_format=torch.contiguous_format)
        x_transposed = x.T
        for d, term in enumerate(chebyshev_terms(operator, grad, maps.shape[0] - 1)):
            grad_x.addmm_(term, maps[d].T)
            torch.mm(x_transposed, term, out=grad_maps[d])
        return grad_x, grad_maps

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operator, grad, x, maps = inputs
        ctx.save_for_backward(grad, x, maps)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        # grad_x = sum_d T_d G W_d^T and grad_W_d = F^T T_d G are bilinear: each derivative is one of the two forms again.
        grad, x, maps = ctx.saved_tensors
        of_x, of_maps = grads
        operator = ctx.operator
        product: Any = _Full.apply
        to_grad = product(operator, of_x, maps) + product(operator, x, of_maps)
        to_x = product(operator, grad, of_maps.transpose(-1, -2))
        _, to_maps = _FullBackward.apply(operator, grad, of_x, maps)
        return None, to_grad, to_x, to_maps

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor) -> Any:
        grad, maps = _fold(info, (None, in_dims[1], in_dims[3]), grad, maps)
        x, _ = _fold(info, (None, in_dims[2], 1), x, maps)
        return _FullBackward.apply(operator, grad, x, maps), (1, 1)


def _fold(info: Any, in_dims: Any, x: Tensor, maps: Tensor) -> tuple[Tensor, Tensor]:
    """Both with the runs in dimension 1, whether or not they were stacked."""
    folded = []
    for tensor, dim in ((x, in_dims[1]), (maps, in_dims[2])):
        if dim is None:
            tensor = tensor.unsqueeze(1).expand(-1, info.batch_size, *tensor.shape[1:])
        else:
            tensor = tensor.movedim(dim, 1)
        folded.append(tensor)
    return folded[0], folded[1]


def _grouped(operator: SparseOperator, x: Tensor, degree: int) -> Iterator[tuple[slice, Tensor]]:
    """Terms of N x R x C by groups: (degrees, R x N x (k C)). The buffer is written again for the next group."""
    nodes, runs, channels = x.shape
    width = min(GROUP, degree + 1)
    buffer = x.new_empty(runs, nodes, width, channels)
    for d, term in enumerate(chebyshev_terms(operator, x.reshape(nodes, -1), degree)):
        j = d % width
        buffer[:, :, j] = term.view(nodes, runs, channels).transpose(0, 1)
        if j == width - 1 or d == degree:
            yield slice(d - j, d + 1), buffer.view(runs, nodes, -1)[:, :, : (j + 1) * channels]


def _stacked_sum(operator: SparseOperator, x: Tensor, maps: Tensor) -> Tensor:
    nodes, runs, _ = x.shape
    z = x.new_zeros(runs, nodes, maps.shape[-1])
    for degrees, group in _grouped(operator, x, maps.shape[0] - 1):
        z.baddbmm_(group, maps[degrees].transpose(0, 1).reshape(runs, -1, maps.shape[-1]))
    return z.transpose(0, 1)


def _stacked_gradients(operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor) -> tuple[Tensor, Tensor]:
    nodes, runs, channels = x.shape
    outputs = maps.shape[-1]
    grad_x = x.new_zeros(runs, nodes, channels)
    grad_maps = torch.empty_like(maps, memory_format=torch.contiguous_format)
    x_transposed = x.permute(1, 2, 0)
    for degrees, group in _grouped(operator, grad, maps.shape[0] - 1):
        # W_d^T for the degrees of the group, one above the other: (k C') x C for each run.
        grad_x.baddbmm_(group, maps[degrees].permute(1, 0, 3, 2).reshape(runs, -1, channels))
        products = torch.bmm(x_transposed, group).view(runs, channels, -1, outputs)
        grad_maps[degrees] = products.permute(2, 0, 1, 3)
    return grad_x.transpose(0, 1), grad_maps


class _Diagonal(torch.autograd.Function):
    """One number a channel: x is N x C and theta (D + 1) x C, or N x R x C and (D + 1) x R x C. theta may be 1 wide."""

    @staticmethod
    def forward(operator: SparseOperator, x: Tensor, theta: Tensor) -> Tensor:
        x = x.contiguous()
        flat = x.reshape(x.shape[0], -1)
        weights = theta.expand(-1, *x.shape[1:]).reshape(theta.shape[0], -1)
        terms = chebyshev_terms(operator, flat, theta.shape[0] - 1)
        z = next(terms) * weights[0]
        for d, term in enumerate(terms, start=1):
            z.addcmul_(term, weights[d])
        return z.view_as(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[SparseOperator, Tensor, Tensor], output: Tensor) -> None:
        ctx.operator, x, theta = inputs
        ctx.save_for_backward(x, theta)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, theta = ctx.saved_tensors
        grad_x, grad_theta = _DiagonalBackward.apply(ctx.operator, grads[0], x, theta)
        return None, grad_x, grad_theta

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, x: Tensor, theta: Tensor) -> tuple[Tensor, int]:
        return _Diagonal.apply(operator, *_fold(info, in_dims, x, theta)), 1


class _DiagonalBackward(torch.autograd.Function):
    @staticmethod
    def forward(operator: SparseOperator, grad: Tensor, x: Tensor, theta: Tensor) -> tuple[Tensor, Tensor]:
        grad = grad.contiguous()
        flat = grad.reshape(grad.shape[0], -1)
        x_flat = x.reshape(x.shape[0], -1)
        weights = theta.expand(-1, *x.shape[1:]).reshape(theta.shape[0], -1)
        grad_x = torch.zeros_like(flat)
        sums = flat.new_empty(weights.shape)
        for d, term in enumerate(chebyshev_terms(operator, flat, theta.shape[0] - 1)):
            grad_x.addcmul_(term, weights[d])
            torch.sum(term * x_flat, dim=0, out=sums[d])
        return grad_x.view_as(grad), sums.view(-1, *x.shape[1:]).sum_to_size(theta.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.operator, grad, x, theta = inputs
        ctx.save_for_backward(grad, x, theta)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        grad, x, theta = ctx.saved_tensors
        of_x, of_theta = grads
        operator = ctx.operator
        product: Any = _Diagonal.apply
        to_grad = product(operator, of_x, theta) + product(operator, x, of_theta)
        to_x = product(operator, grad, of_theta)
        _, to_theta = _DiagonalBackward.apply(operator, grad, of_x, theta)
        return None, to_grad, to_x, to_theta

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, grad: Tensor, x: Tensor, theta: Tensor) -> Any:
        grad, theta = _fold(info, (None, in_dims[1], in_dims[3]), grad, theta)
        x, _ = _fold(info, (None, in_dims[2], 1), x, theta)
        return _DiagonalBackward.apply(operator, grad, x, theta), (1, 1)

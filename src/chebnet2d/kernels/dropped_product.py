"""dropout(x) W for dense features x as one autograd function, one block of rows at a time.

Features are wide: x * mask would be the largest array of an epoch, written once and read twice, by the product and by its
gradient. Here a block of rows is masked and multiplied while it is in the cache. One bit per entry is saved (whether dropout kept
the entry); from the bits and x the backward pass rebuilds the block.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from chebnet2d._stacks import StackFunction
from chebnet2d.kernels.random_streams import Stream, dropout_runs, keep_bytes, keep_scale, streams_of, write_mask

# Rows per block: what the second-level cache holds. A multiple of 8, so that blocks draw the same mask as the whole matrix would
# and their bits fill whole bytes.
_ROWS = 512


def dropped_product(x: Tensor, weight: Tensor, p: Tensor) -> Tensor:
    """``(x * keep_mask(x.shape, p)) @ weight``: N x H on a CPU, for x: N x F, weight: F x H and p a 0-dimensional tensor.

    Differentiable once, in x and weight.
    """
    return _DroppedProduct.apply(x, weight, p)[0]


class _DroppedProduct(StackFunction):
    """x: N x F, weight: F x H, p: a number; or R x N x F, R x F x H and R numbers, run after run.

    The second result holds the bits: a vector of bytes, or one per run.
    """

    @staticmethod
    def forward(x: Tensor, weight: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        out = x.new_empty(*x.shape[:-1], weight.shape[-1])
        bits = torch.empty((*x.shape[:-2], -(-x.shape[-2] * x.shape[-1] // 8)), dtype=torch.uint8)
        for stream, run in zip(streams_of(p.numel()), dropout_runs(p, x, weight, out, bits), strict=True):
            _forward(stream, *run)
        return out, bits

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.save_for_backward(*inputs, output[1])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor, None]:
        x, weight, p, bits = ctx.saved_tensors
        grad_x = torch.empty_like(x, memory_format=torch.contiguous_format) if ctx.needs_input_grad[0] else None
        grad_weight = torch.zeros_like(weight, memory_format=torch.contiguous_format)
        of_x = [None] * p.numel() if grad_x is None else grad_x.reshape(p.numel(), *x.shape[-2:])
        for into, run in zip(of_x, dropout_runs(p, x, weight, grads[0], bits, grad_weight), strict=True):
            _backward(into, *run)
        return grad_x, grad_weight, None


def _forward(stream: Stream, threshold: int, x: Tensor, weight: Tensor, out: Tensor, bits: Tensor) -> None:
    if threshold == 0:
        torch.mm(x, weight, out=out)
        return
    for rows, part, block in _blocks(x, bits):
        kept = keep_bytes(stream, threshold, block.numel())
        part[:] = np.packbits(kept)
        torch.mm(write_mask(kept, block).mul_(x[rows]), weight, out=out[rows])
    out.mul_(keep_scale(threshold))


def _backward(
    of_x: Tensor | None, threshold: int, x: Tensor, weight: Tensor, grad: Tensor, bits: Tensor, of_weight: Tensor
) -> None:
    grad = grad * keep_scale(threshold)
    if threshold == 0:
        torch.mm(x.T, grad, out=of_weight)
        if of_x is not None:
            torch.mm(grad, weight.T, out=of_x)
        return
    for rows, part, block in _blocks(x, bits):
        kept = np.unpackbits(part, count=block.numel())
        of_weight.addmm_(write_mask(kept, block).mul_(x[rows]).T, grad[rows])
        if of_x is not None:
            write_mask(kept, of_x[rows]).mul_(grad[rows] @ weight.T)


def _blocks(x: Tensor, bits: Tensor) -> Iterator[tuple[slice, Any, Tensor]]:
    """Per block: its rows, its part of the bits, and a buffer, the same for all blocks because new memory is not in the cache."""
    array, columns = bits.numpy(), x.shape[1]
    buffer = x.new_empty(min(_ROWS, x.shape[0]), columns)
    for start in range(0, x.shape[0], _ROWS):
        end = min(start + _ROWS, x.shape[0])
        yield slice(start, end), array[start * columns // 8 : -(-end * columns // 8)], buffer[: end - start]

"""Dropout of relu(x) as one autograd function."""

from typing import Any

import torch
from torch import Tensor

from chebnet2d._stacks import StackFunction
from chebnet2d.kernels.random_streams import draw_mask, dropout_runs, keep_scale, streams_of, threshold_of


def relu_dropout(x: Tensor, p: Tensor) -> Tensor:
    """``relu(x) * keep_mask(x.shape, p)`` for x: N x H and p a 0-dimensional tensor.

    Only the result is saved: the gradient passes where it is positive.
    """
    return _ReluDropout.apply(x, p)


class _ReluDropout(StackFunction):
    """x: N x H and p a number, or R x N x H and R numbers. Run after run, so that the part of a run stays in the cache."""

    @staticmethod
    def forward(x: Tensor, p: Tensor) -> Tensor:
        out = torch.empty_like(x, memory_format=torch.contiguous_format)
        for stream, (threshold, run, result) in zip(streams_of(p.numel()), dropout_runs(p, x, out), strict=True):
            draw_mask(stream, threshold, result)
            result.mul_(run.relu())
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(output, inputs[1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        out, p = ctx.saved_tensors
        scale = keep_scale(threshold_of(p))
        return torch.ops.aten.threshold_backward(grads[0], out, 0).mul_(scale.to(out)[..., None, None]), None

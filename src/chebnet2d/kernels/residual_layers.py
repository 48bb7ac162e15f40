"""H <- ReLU(((1 - alpha) P H + alpha S) M_l) for l = 1, ..., L with dropout between layers, as one autograd function.

Autograd makes about twenty passes over N x H numbers per layer, and a stack of runs is larger than the caches. Here the runs go
through all layers one after the other, in place. Saved for the backward pass are, per layer, the left factor of M_l and one bit
per entry: whether it passed both ReLU and dropout.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from chebnet2d._stacks import StackFunction
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.random_streams import dropout_runs, keep_bytes, keep_scale, streams_of, write_mask


def residual_layers(operator: SparseOperator, hidden: Tensor, start: Tensor, maps: Tensor, p: Tensor, alpha: float) -> Tensor:
    """The output of the last layer, after its ReLU: N x H, on a CPU. Differentiable once, in hidden, start and maps.

    ``operator`` is P, symmetric; ``hidden`` the first H and ``start`` S, both N x H; ``maps`` are M_1, ..., M_L: L x H x H. p is
    the rate of dropout, a 0-dimensional tensor; there is none before the first layer and after the last.
    """
    return _Layers.apply(operator, alpha, torch.is_grad_enabled(), hidden, start, maps, p)[0]


class _Layers(StackFunction):
    """hidden, start: N x H, maps: L x H x H, p: a number; or a stack of R of each. The other results: the factors, the bits."""

    @staticmethod
    def forward(
        operator: SparseOperator, alpha: float, keep: bool, hidden: Tensor, start: Tensor, maps: Tensor, p: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        lead, (layers, _, channels) = p.shape, maps.shape[-3:]
        nodes = start.shape[-2]
        out = hidden.new_empty(*lead, nodes, channels)
        factors = hidden.new_empty(*lead, layers if keep else 1, nodes, channels)
        bits = torch.empty((*lead, layers if keep else 0, -(-nodes * channels // 8)), dtype=torch.uint8)
        streams: Sequence[Any] = streams_of(p.numel()) if p.any() else [None] * p.numel()
        for stream, run in zip(streams, dropout_runs(p, hidden, start, maps, out, factors, bits), strict=True):
            threshold, x, s, run_maps, result, run_factors, run_bits = run
            result.copy_(x)
            mask, scale, s = torch.empty_like(result), 1.0, s.contiguous()
            # The factors of P H are put into the values of P, which are fewer.
            weights = {factor: operator.values * ((1 - alpha) * factor) for factor in (1.0, keep_scale(threshold))}
            for layer in range(layers):
                factor = run_factors[layer if keep else 0]
                torch.add(operator.multiply(result, weights[scale]), s, alpha=alpha, out=factor)
                torch.mm(factor, run_maps[layer], out=result).relu_()
                if threshold and layer < layers - 1:
                    result.mul_(write_mask(keep_bytes(stream, threshold, nodes * channels), mask))
                    scale = keep_scale(threshold)
                if keep:
                    run_bits[layer] = torch.from_numpy(np.packbits(result.numpy().reshape(-1) > 0))
        return out, factors, bits

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
        ctx.operator, ctx.alpha, _, _, _, maps, p = inputs
        ctx.save_for_backward(maps, p, *output[1:])
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        maps, p, factors, bits = ctx.saved_tensors
        if grads[0] is None:
            return (None,) * 7
        grad_hidden = grads[0].clone(memory_format=torch.contiguous_format)
        grad_start = torch.zeros_like(grad_hidden)
        grad_maps = torch.empty_like(maps, memory_format=torch.contiguous_format)
        nodes, channels = grad_hidden.shape[-2:]
        for run in dropout_runs(p, maps, factors, bits, grad_hidden, grad_start, grad_maps):
            threshold, run_maps, run_factors, run_bits, grad, of_start, of_maps = run
            mask, of_factor = torch.empty_like(grad), torch.empty_like(grad)
            weights = {factor: ctx.operator.values * ((1 - ctx.alpha) * factor) for factor in (1.0, keep_scale(threshold))}
            for layer in range(len(run_maps) - 1, -1, -1):
                grad.mul_(write_mask(np.unpackbits(run_bits[layer].numpy(), count=nodes * channels), mask))
                torch.mm(run_factors[layer].T, grad, out=of_maps[layer])
                torch.mm(grad, run_maps[layer].T, out=of_factor)
                of_start.add_(of_factor, alpha=ctx.alpha)
                scale = keep_scale(threshold) if layer else 1.0
                grad.copy_(ctx.operator.multiply(of_factor, weights[scale]))
        return None, None, None, grad_hidden, grad_start, grad_maps, None

"""Kernel attention under several samples of noise, averaged: one sample at a time in both passes, so that memory does not grow
with their number."""

from typing import Any

import torch
from torch import Tensor


def noisy_attention(of_query: Tensor, of_key: Tensor, value: Tensor, noise: Tensor) -> Tensor:
    """Mean over samples s of sum_j (q_i.k_j) w_js v_j / sum_j (q_i.k_j) w_js for every node i and head.

    Args:
        of_query, of_key: positive features q and k, N x heads x M.
        value: v, N x heads x d.
        noise: w, N x heads x samples, a constant.
    """
    out: Tensor = _NoisyAttention.apply(of_query, of_key, value, noise)
    return out


class _NoisyAttention(torch.autograd.Function):
    # Heads come first for the products. A column of ones beside v makes the denominator a part of the numerator's products.
    @staticmethod
    def forward(of_query: Tensor, of_key: Tensor, value: Tensor, noise: Tensor) -> Tensor:
        query, key, values, weights = _heads_first(of_query, of_key, value, noise)
        out = torch.zeros_like(values[..., :-1])
        for sample in range(noise.shape[2]):
            mixed = query @ ((key * weights[..., sample : sample + 1]).mT @ values)
            out += mixed[..., :-1] / mixed[..., -1:]
        return (out / noise.shape[2]).transpose(0, 1).contiguous()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        query, key, values, weights = _heads_first(*ctx.saved_tensors)
        samples = weights.shape[2]
        grad = grads[0].transpose(0, 1) / samples
        grad_query, grad_key, grad_value = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(values)
        of_mixed = torch.empty_like(values)
        for sample in range(samples):
            weight = weights[..., sample : sample + 1]
            weighted = key * weight
            total = weighted.mT @ values
            mixed = query @ total
            torch.div(grad, mixed[..., -1:], out=of_mixed[..., :-1])
            ratio = mixed[..., :-1] / mixed[..., -1:]
            torch.sum(of_mixed[..., :-1] * ratio, dim=2, keepdim=True, out=of_mixed[..., -1:]).neg_()
            grad_query += of_mixed @ total.mT
            of_total = query.mT @ of_mixed
            grad_key += (values @ of_total.mT) * weight
            grad_value += weighted @ of_total
        return grad_query.transpose(0, 1), grad_key.transpose(0, 1), grad_value[..., :-1].transpose(0, 1), None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *tensors: Tensor) -> tuple[Tensor, int]:
        # Runs are further heads.
        folded = []
        for tensor, dim in zip(tensors, in_dims, strict=True):
            stacked = tensor.unsqueeze(1).expand(-1, info.batch_size, -1, -1) if dim is None else tensor.movedim(dim, 1)
            folded.append(stacked.flatten(1, 2))
        out = noisy_attention(*folded)
        return out.unflatten(1, (info.batch_size, -1)), 1


def _heads_first(of_query: Tensor, of_key: Tensor, value: Tensor, noise: Tensor) -> tuple[Tensor, ...]:
    values = torch.cat([value, value.new_ones(*value.shape[:2], 1)], dim=2)
    return tuple(tensor.transpose(0, 1).contiguous() for tensor in (of_query, of_key, values, noise))

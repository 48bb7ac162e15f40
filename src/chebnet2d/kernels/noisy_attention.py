"""Kernel attention, averaged over several samples of noise, as one autograd function.

Both passes work on some nodes at a time, so that memory does not grow with the number of samples.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from chebnet2d._stacks import with_runs

# Nodes at a time: with samples x features numbers per node they stay in the cache.
_NODES = 1024


def noisy_attention(of_query: Tensor, of_key: Tensor, value: Tensor, noise: Tensor) -> Tensor:
    """Mean over samples s of sum_j (q_i.k_j) w_js v_j / sum_j (q_i.k_j) w_js for every node i and head: N x heads x d.

    For positive features q and k of queries and keys (N x heads x M), values v (N x heads x d) and noise w (N x heads x samples).
    Differentiable once, except in the noise.
    """
    return _NoisyAttention.apply(of_query, of_key, value, noise)


class _NoisyAttention(torch.autograd.Function):
    """For one head, with S samples, r_is = 1 / (S sum_j (q_i.k_j) w_js) and pairs (s, m) of a sample and a feature,

        out = A T,   A_i,(s,m) = r_is q_im,   T = B^T v,   B_j,(s,m) = w_js k_jm:

    the sum over samples is part of products of N x SM with SM x d matrices, which are large enough to be fast.
    """

    @staticmethod
    def forward(of_query: Tensor, of_key: Tensor, value: Tensor, noise: Tensor) -> Tensor:
        out = torch.empty_like(value, memory_format=torch.contiguous_format)
        for head, (query, key, v, weights) in enumerate(_heads(of_query, of_key, value, noise)):
            totals, sums = _totals(key, v, weights)
            for rows in _parts(query):
                # v is a copy and not needed any more.
                torch.mm(_pairs(_shares(query[rows], sums), query[rows]), totals, out=v[rows])
            out[:, head] = v
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        saved = ctx.saved_tensors
        grad_query, grad_key, grad_value = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in saved[:3])
        for head, (query, key, v, weights, grad) in enumerate(_heads(*saved, grads[0])):
            totals, sums = _totals(key, v, weights)
            of_totals, of_sums = torch.zeros_like(totals), torch.zeros_like(sums)
            for rows in _parts(query):
                q, g = query[rows], grad[rows]
                shares = _shares(q, sums)
                of_totals.addmm_(_pairs(shares, q).T, g)
                of_pairs = (g @ totals.T).view(*shares.shape, -1)
                # r = 1 / (S n), so dn = -S r^2 dr.
                of_normaliser = (of_pairs * q.unsqueeze(1)).sum(dim=2).mul_(shares).mul_(shares).mul_(-shares.shape[1])
                of_sums.addmm_(q.T, of_normaliser)
                of_query = of_pairs.mul_(shares.unsqueeze(2)).sum(dim=1)
                grad_query[rows, head] = of_query.addmm_(of_normaliser, sums.T)
            for rows in _parts(query):
                w = weights[rows]
                grad_value[rows, head] = _pairs(w, key[rows]) @ of_totals
                of_pairs = (v[rows] @ of_totals.T).view(*w.shape, -1)
                grad_key[rows, head] = of_pairs.mul_(w.unsqueeze(2)).sum(dim=1).addmm_(w, of_sums.T)
        return grad_query, grad_key, grad_value, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *tensors: Tensor) -> tuple[Tensor, int]:
        # The runs of a stack are further heads.
        out = noisy_attention(*(tensor.flatten(1, 2) for tensor in with_runs(info, in_dims, *tensors, at=1)))
        return out.unflatten(1, (info.batch_size, -1)), 1


def _heads(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Per head, a contiguous copy of its part of each tensor (N x heads x anything)."""
    for head in range(tensors[0].shape[1]):
        yield tuple(tensor[:, head].clone(memory_format=torch.contiguous_format) for tensor in tensors)


def _parts(x: Tensor) -> Iterator[slice]:
    return (slice(start, start + _NODES) for start in range(0, x.shape[0], _NODES))


def _pairs(samples: Tensor, features: Tensor) -> Tensor:
    """n x S and n x M -> n x SM."""
    return (samples.unsqueeze(2) * features.unsqueeze(1)).flatten(1)


def _totals(key: Tensor, value: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """T: SM x d, and sum_j k_j w_js: M x S."""
    totals = value.new_zeros(weights.shape[1] * key.shape[1], value.shape[1])
    for rows in _parts(key):
        totals.addmm_(_pairs(weights[rows], key[rows]).T, value[rows])
    return totals, key.T @ weights


def _shares(query: Tensor, sums: Tensor) -> Tensor:
    """r: n x S."""
    return (query @ sums).mul_(sums.shape[1]).reciprocal_()

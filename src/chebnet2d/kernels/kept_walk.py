"""sum_k M^k X diag(s_k) W for features X that stay the same from epoch to epoch: M^k X is computed once and kept.

What is left for an epoch is to add up K numbers for each entry of X in each pass, and one product with W. For dense X that is far
less than the K products of ``diffused_product``.
"""

from typing import Any, TypeGuard

import torch
from torch import Tensor

from chebnet2d._stacks import with_runs
from chebnet2d.graph import SparseOperator, remembered

# What a walk may take, in bytes.
LARGEST_WALK = 2**29


def can_keep_walk(x: Any, terms: int) -> TypeGuard[Tensor]:
    """Whether x is dense, is not being learned, and its walk is not too large to keep."""
    return isinstance(x, Tensor) and not x.requires_grad and terms * x.numel() * x.element_size() <= LARGEST_WALK


def kept_walk_product(operator: SparseOperator, x: Tensor, shares: Tensor, weight: Tensor) -> Tensor:
    """sum_k operator^k x diag(shares[k]) weight, for shares: K x F and weight: F x C. x must be the same tensor in every call."""
    walk = _walk(operator, x, shares.shape[0])
    mixed: Tensor = _Mix.apply(walk, shares.T.unsqueeze(1))
    return (weight.T @ mixed.squeeze(1)).T.contiguous()


def _walk(operator: SparseOperator, x: Tensor, terms: int) -> Tensor:
    """operator^k x, as F x K x N. Kept while x is, for one graph at a time: it is K times as large as x."""
    kept: dict[str, tuple[SparseOperator, Tensor]] = remembered(x, "walk", dict)
    graph, walk = kept.get("last", (None, x))
    if graph is not operator or walk.shape[1] != terms:
        with torch.inference_mode(False):  # it may be made in evaluation and serve in training
            walk, current = x.new_empty(x.shape[1], terms, x.shape[0]), x
            walk[:, 0] = x.T
            for k in range(1, terms):
                current = operator @ current
                walk[:, k] = current.T
        kept["last"] = operator, walk
    return walk


class _Mix(torch.autograd.Function):
    """walk: F x K x N, shares: F x R x K -> F x R x N. Runs stand side by side: each number of the walk is read once for all."""

    @staticmethod
    def forward(walk: Tensor, shares: Tensor) -> Tensor:
        return torch.bmm(shares, walk)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        return None, torch.bmm(grads[0], ctx.saved_tensors[0].transpose(1, 2))

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], walk: Tensor, shares: Tensor) -> tuple[Tensor, int]:
        (stacked,) = with_runs(info, in_dims[1:], shares, at=1)
        out: Tensor = _Mix.apply(walk, stacked.flatten(1, 2))
        return out.unflatten(1, (info.batch_size, -1)), 1

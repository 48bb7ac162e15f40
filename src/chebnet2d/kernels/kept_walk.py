"""sum_k M^k X diag(s_k) W for features X that stay the same in every epoch: M^k X is computed once and kept (the walk).

An epoch then adds up K numbers per entry of X in each pass and makes one product with W. For dense X that is far less than the K
products of ``diffused_product``.
"""

from typing import Any, TypeGuard

import torch
from torch import Tensor

from chebnet2d._stacks import with_runs
from chebnet2d.graph import SparseOperator, remembered

# The largest walk that is kept, in bytes.
LARGEST_WALK = 2**29


def can_keep_walk(x: Any, terms: int) -> TypeGuard[Tensor]:
    """Whether x (N x F) is dense, needs no gradient, and its walk of ``terms`` terms is at most ``LARGEST_WALK`` bytes."""
    return isinstance(x, Tensor) and not x.requires_grad and terms * x.numel() * x.element_size() <= LARGEST_WALK


def kept_walk_product(operator: SparseOperator, x: Tensor, shares: Tensor, weight: Tensor) -> Tensor:
    """sum_k operator^k x diag(shares[k]) weight: N x C, for operator: N x N, x: N x F, shares: K x F and weight: F x C.

    Differentiable in shares and weight. x must be the same tensor in every call and shared by all runs of a stack.
    """
    walk = _walk(operator, x, shares.shape[0])
    mixed = _Mix.apply(walk, shares.T.unsqueeze(1))
    return (weight.T @ mixed.squeeze(1)).T.contiguous()


def _walk(operator: SparseOperator, x: Tensor, terms: int) -> Tensor:
    """operator^k x, as F x K x N. Kept as long as x exists, for one graph at a time because it is K times as large as x."""
    kept: dict[str, tuple[SparseOperator, Tensor]] = remembered(x, "walk", dict)
    graph, walk = kept.get("last", (None, x))
    if graph is not operator or walk.shape[1] != terms:
        with torch.inference_mode(False):  # a walk computed during evaluation is used in training, too
            walk, current = x.new_empty(x.shape[1], terms, x.shape[0]), x
            walk[:, 0] = x.T
            for k in range(1, terms):
                current = operator @ current
                walk[:, k] = current.T
        kept["last"] = operator, walk
    return walk


class _Mix(torch.autograd.Function):
    """walk: F x K x N, shares: F x R x K -> F x R x N. The walk is read once for all runs of a stack."""

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
        return _Mix.apply(walk, stacked.flatten(1, 2)).unflatten(1, (info.batch_size, -1)), 1

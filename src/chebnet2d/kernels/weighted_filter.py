"""Z = sum_d T_d(M) F W_d for a matrix M whose stored entries have a gradient, as one autograd function.

With the terms t_0 = F, t_1 = M F, t_d = 2 M t_{d-1} - t_{d-2} and G = dLoss/dZ, the gradients g_d of the terms obey the same
recurrence from the other end, with the transpose of M (Clenshaw):

    g_d = G W_d^T + 2 M^T g_{d+1} - g_{d+2}      (d >= 1)        g_0 = G W_0^T + M^T g_1 - g_2 = dLoss/dF

    dLoss/dW_d = t_d^T G        dLoss/dM_ij = <g_1[i], t_0[j]> + 2 sum_{d=2..D} <g_d[i], t_{d-1}[j]>

The last is needed at stored entries only. Autograd would sample it once per degree; here it is sampled in blocks of columns that
the cache holds, of several degrees where they are narrow. Saved are entries, F, W and terms: the backward pass holds all of
them in any case, and computing them again would be a third of its products.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from chebnet2d._stacks import StackFunction
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.chebyshev_terms import chebyshev_terms

# Columns that are sampled at once: fewer leave the vector units idle, more do not fit into the cache.
_SAMPLED = 32


def weighted_filter(pattern: SparseOperator, values: Tensor, x: Tensor, maps: Tensor) -> Tensor:
    """sum_d T_d(M) x maps[d]: N x C', with M the matrix that has ``values`` (nnz numbers) in the places of ``pattern``: N x N.

    M need not be symmetric; its norm should be at most 1, as for every Chebyshev recurrence. ``x`` and ``maps`` are as in
    ``chebyshev_filter``. Differentiable once in values, x and maps. Each run of a stack has values of its own.
    """
    return _WeightedFilter.apply(pattern, values, x, maps)[0]


class _WeightedFilter(StackFunction):
    """One run: values: nnz, x: N x C, maps: (D + 1) x C x C', (D + 1) x C or (D + 1) x 1. A stack: the runs come first.

    The result, and the terms t_1, ..., t_D for the backward pass.
    """

    @staticmethod
    def forward(pattern: SparseOperator, values: Tensor, x: Tensor, maps: Tensor) -> tuple[Tensor, ...]:
        if x.dim() == 2:
            return _filtered(pattern, values, x, maps)
        return _of_runs(_filtered(pattern, *run) for run in zip(values, x, maps, strict=True))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.operator, *tensors = inputs
        terms = output[1:]
        ctx.mark_non_differentiable(*terms)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors, *terms)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Any:
        if grads[0] is None:  # zeros for the terms are not made, so none for the result either
            return None, None, None, None
        return None, *_WeightedGradients.apply(ctx.operator, grads[0], *ctx.saved_tensors)


class _WeightedGradients(StackFunction):
    """The gradients as a function of their own, so that ``vmap`` can be outside of ``grad``."""

    @staticmethod
    def forward(pattern: SparseOperator, *tensors: Tensor) -> tuple[Tensor, ...]:
        if tensors[0].dim() == 2:
            return _gradients(pattern, *tensors)
        return _of_runs(_gradients(pattern, *run) for run in zip(*tensors, strict=True))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise RuntimeError("weighted_filter: cannot differentiate twice where the entries of the matrix have a gradient")


def _of_runs(results: Iterable[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    return tuple(map(torch.stack, zip(*results, strict=True)))


def _filtered(pattern: SparseOperator, values: Tensor, x: Tensor, maps: Tensor) -> tuple[Tensor, ...]:
    """The result and the terms, but for t_0 = x."""
    terms = list(chebyshev_terms(pattern.with_values(values), x.contiguous(), len(maps) - 1))
    if maps.dim() == 2:
        z = terms[0] * maps[0]
        for term, numbers in zip(terms[1:], maps[1:], strict=True):
            z.addcmul_(term, numbers)
    else:
        z = terms[0] @ maps[0]
        for term, term_maps in zip(terms[1:], maps[1:], strict=True):
            z.addmm_(term, term_maps)
    return z, *terms[1:]


def _gradients(
    pattern: SparseOperator, grad: Tensor, values: Tensor, x: Tensor, maps: Tensor, *later_terms: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Those of values, x and maps."""
    terms = (x, *later_terms)
    if maps.dim() == 3:
        of_maps = torch.stack([term.T @ grad for term in terms])
        back = [grad @ term_maps.T for term_maps in maps]  # G W_d^T, which become g_d where they stand
    else:
        of_maps = torch.stack([torch.einsum("nc,nc->c", term, grad) for term in terms]).sum_to_size(maps.shape)
        back = [grad * numbers for numbers in maps]
    transposed = pattern.T.with_values(values.index_select(0, pattern.transpose_order) * 2)
    for d in range(len(terms) - 1, -1, -1):
        if d + 1 < len(terms):
            back[d].add_(transposed.multiply(back[d + 1]), alpha=1.0 if d else 0.5)
        if d + 2 < len(terms):
            back[d] -= back[d + 2]
    return _sampled(pattern, back[1:], terms[:-1]), back[0], of_maps


def _sampled(pattern: SparseOperator, left: Sequence[Tensor], right: Sequence[Tensor]) -> Tensor:
    """left[0] @ right[0]^T + 2 sum_{d > 0} left[d] @ right[d]^T in the places of ``pattern``; left[0] is overwritten."""
    total = pattern.with_values(pattern.values.new_zeros(pattern.nnz)).csr
    if pattern.nnz == 0 or not left:
        return total.values()
    left[0].mul_(0.5)
    together = max(1, _SAMPLED // left[0].shape[1])  # degrees in a block
    for first in range(0, len(left), together):
        sides = (torch.cat(tuple(side[first : first + together]), dim=1) for side in (left, right))
        for one, other in zip(*(side.split(_SAMPLED, dim=1) for side in sides), strict=True):
            missing = (0, _SAMPLED - one.shape[1])
            one, other = (pad(block, missing).contiguous() for block in (one, other))
            torch.sparse.sampled_addmm(total, one, other.T, alpha=2.0, out=total)
    return total.values()

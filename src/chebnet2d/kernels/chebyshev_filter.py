"""Z = sum_d T_d(L_hat) F W_d as one autograd function.

Why by hand: autograd over the recurrence keeps D + 1 matrices of size N x C for the backward pass. But L_hat is symmetric, so
T_d(L_hat) is its own transpose, and with G = dLoss/dZ

    dLoss/dF   = sum_d T_d(L_hat) G W_d^T          dLoss/dW_d = F^T (T_d(L_hat) G)

are the same recurrence applied to G. Only F and W are saved, the graph is read D times per pass, and memory does not grow with D.

A stack of R runs (``torch.func.vmap``) is folded into columns: the recurrence runs once on N x (R C). ``RunBlocks`` says how the
small C x C' maps of the runs are applied.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._stacks import StackFunction, not_compiled
from chebnet2d.graph import LearnedOperator, SparseOperator
from chebnet2d.kernels.chebyshev_terms import chebyshev_terms
from chebnet2d.kernels.diagonal_filter import diagonal_filter, diagonal_gradients
from chebnet2d.kernels.run_blocks import BLOCK, RunBlocks, each_for_itself
from chebnet2d.kernels.weighted_filter import weighted_filter


@not_compiled
def chebyshev_filter(operator: SparseOperator | LearnedOperator, x: Tensor, maps: Tensor) -> Tensor:
    """sum_d T_d(operator) x maps[d]: N x C', for a symmetric operator (N x N) with its spectrum in [-1, 1] and x: N x C.

    ``maps`` is (D + 1) x C x C' (a map between channels per degree), (D + 1) x C (a number per degree and channel, C' = C) or
    (D + 1) x 1 (a number per degree). Differentiable twice in x and maps. A ``LearnedOperator`` need not be symmetric, and has a
    gradient, too; then all are differentiable once.
    """
    if isinstance(operator, LearnedOperator):
        return weighted_filter(operator.pattern, operator.values, x, maps)
    if not operator.symmetric:
        raise InputError("chebyshev_filter", "operator", "symmetric: the backward pass relies on it")
    return _Filter.apply(operator, x, maps)


def chebyshev_gradients(operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor) -> tuple[Tensor, ...]:
    """The gradients of x and maps, given that of the result."""
    return _FilterGradients.apply(operator, grad, x, maps)


class _Filter(StackFunction):
    """One run: x is N x C and maps as above. A stack: N x R x C and maps with the runs in their second dimension."""

    at = 1

    @staticmethod
    def forward(operator: SparseOperator, x: Tensor, maps: Tensor) -> Tensor:
        return (_full_filter if maps.dim() > x.dim() else diagonal_filter)(operator, x, maps)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        return None, *_FilterGradients.apply(ctx.operator, grads[0], *ctx.saved_tensors)


class _FilterGradients(StackFunction):
    """The gradients as a function of their own, so that they can be differentiated again."""

    at = 1

    @staticmethod
    def forward(operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor) -> tuple[Tensor, ...]:
        return (_full_gradients if maps.dim() > x.dim() else diagonal_gradients)(operator, grad, x, maps)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        # grad_x = sum_d T_d G W_d^T and grad_W_d = F^T T_d G are bilinear: each derivative is one of the two forms again.
        operator, (grad, x, maps), (of_x, of_maps) = ctx.operator, ctx.saved_tensors, grads
        to_grad = _Filter.apply(operator, of_x, maps) + _Filter.apply(operator, x, of_maps)
        to_x = _Filter.apply(operator, grad, of_maps.mT if maps.dim() > x.dim() else of_maps)
        return None, to_grad, to_x, _FilterGradients.apply(operator, grad, of_x, maps)[1]


def _full_filter(operator: SparseOperator, x: Tensor, maps: Tensor) -> Tensor:
    if RunBlocks(operator, maps).together == 1:
        return _filtered(operator, x, maps)[0]
    return each_for_itself(partial(_filtered, operator), x, maps)[0]


def _full_gradients(operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor) -> tuple[Tensor, ...]:
    if RunBlocks(operator, maps).together == 1:
        return _gradients(operator, grad, x, maps)
    return each_for_itself(partial(_gradients, operator), grad, x, maps)


def _filtered(operator: SparseOperator, x: Tensor, maps: Tensor, together: int = BLOCK) -> tuple[Tensor]:
    blocks = RunBlocks(operator, maps, together)
    packed, packed_maps = blocks.pack(x, blocks.inputs), blocks.pack_maps(maps)
    z = packed.new_zeros(packed.shape[0], blocks.count, packed_maps.shape[-1])
    for term, term_maps in zip(chebyshev_terms(operator, packed.flatten(1), len(maps) - 1), packed_maps, strict=True):
        _add_product(z, term.view_as(packed), term_maps)
    return (blocks.unpack(z, blocks.outputs, x.shape),)


def _gradients(operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor, together: int = BLOCK) -> tuple[Tensor, Tensor]:
    blocks = RunBlocks(operator, maps, together)
    packed, packed_x, packed_maps = blocks.pack(grad, blocks.outputs), blocks.pack(x, blocks.inputs), blocks.pack_maps(maps)
    grad_x, grad_maps = torch.zeros_like(packed_x), torch.empty_like(packed_maps)
    x_transposed = packed_x.permute(1, 2, 0)
    terms = chebyshev_terms(operator, packed.flatten(1), len(maps) - 1)
    for term, term_maps, term_grad in zip(terms, packed_maps, grad_maps, strict=True):
        block = term.view_as(packed)
        _add_product(grad_x, block, term_maps.transpose(1, 2))
        torch.bmm(x_transposed, block.transpose(0, 1), out=term_grad)
    return blocks.unpack(grad_x, blocks.inputs, x.shape), blocks.unpack_maps(grad_maps, maps)


def _add_product(z: Tensor, block: Tensor, maps: Tensor) -> None:
    """z += block @ maps for each of the B blocks: N x B x w' += N x B x w times B x w x w'."""
    if z.shape[1] == 1:
        z[:, 0].addmm_(block[:, 0], maps[0])
    else:
        z.transpose(0, 1).baddbmm_(block.transpose(0, 1), maps)

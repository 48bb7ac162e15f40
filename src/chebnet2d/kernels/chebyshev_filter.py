"""Z = sum_d T_d(L_hat) F W_d as one autograd function.

Why by hand: autograd over the recurrence keeps D + 1 matrices of size N x C for the backward pass. But L_hat is symmetric, so
T_d(L_hat) is its own transpose, and with G = dLoss/dZ

    dLoss/dF   = sum_d T_d(L_hat) G W_d^T          dLoss/dW_d = F^T (T_d(L_hat) G)

are the same recurrence applied to G. Only F and W are saved, the graph is read D times per pass, and memory does not grow with D.

A stack of R runs (``torch.func.vmap``) is folded into columns: the recurrence runs once on N x (R C). ``RunBlocks`` says how the
small C x C' maps of the runs are applied.
"""

from typing import Any, cast

import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._stacks import with_runs
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.chebyshev_terms import chebyshev_terms
from chebnet2d.kernels.diagonal_filter import DiagonalFilter
from chebnet2d.kernels.run_blocks import RunBlocks


def chebyshev_filter(operator: SparseOperator, x: Tensor, maps: Tensor) -> Tensor:
    """sum_d T_d(operator) x maps[d]: N x C'. Differentiable twice in x and maps.

    Args:
        operator: symmetric, N x N, with its spectrum in [-1, 1].
        x: N x C.
        maps: (D + 1) x C x C' (a map between channels per degree), (D + 1) x C (a number per degree and channel, C' = C)
            or (D + 1) x 1 (a number per degree).
    """
    if not operator.symmetric:
        raise InputError("chebyshev_filter", "operator", "symmetric: the backward pass relies on it")
    function = _FullFilter if maps.dim() == 3 else DiagonalFilter
    return cast(Tensor, function.apply(operator, x, maps))


class _FullFilter(torch.autograd.Function):
    """Unstacked: x is N x C and W is (D + 1) x C x C'. Stacked: x is N x R x C and W is (D + 1) x R x C x C'."""

    @staticmethod
    def forward(operator: SparseOperator, x: Tensor, maps: Tensor) -> Tensor:
        blocks = RunBlocks(operator, maps)
        packed, packed_maps = blocks.pack(x, blocks.inputs), blocks.pack_maps(maps)
        terms = chebyshev_terms(operator, packed.flatten(1), maps.shape[0] - 1)
        z = packed.new_zeros(packed.shape[0], blocks.count, packed_maps.shape[-1])
        for term, term_maps in zip(terms, packed_maps, strict=True):
            _add_product(z, term.view_as(packed), term_maps)
        return blocks.unpack(z, blocks.outputs, x.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[SparseOperator, Tensor, Tensor], output: Tensor) -> None:
        ctx.operator, x, maps = inputs
        ctx.save_for_backward(x, maps)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        x, maps = ctx.saved_tensors
        grad_x, grad_maps = _FullFilterBackward.apply(ctx.operator, grads[0], x, maps)
        return None, grad_x, grad_maps

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, x: Tensor, maps: Tensor) -> tuple[Tensor, int]:
        return _FullFilter.apply(operator, *with_runs(info, in_dims[1:], x, maps, at=1)), 1


class _FullFilterBackward(torch.autograd.Function):
    """The gradient as a function of its own, so that it can be differentiated again."""

    @staticmethod
    def forward(operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor) -> tuple[Tensor, Tensor]:
        blocks = RunBlocks(operator, maps)
        packed, packed_x, packed_maps = blocks.pack(grad, blocks.outputs), blocks.pack(x, blocks.inputs), blocks.pack_maps(maps)
        grad_x = torch.zeros_like(packed_x)
        grad_maps = torch.empty_like(packed_maps)
        x_transposed = packed_x.permute(1, 2, 0)
        terms = chebyshev_terms(operator, packed.flatten(1), maps.shape[0] - 1)
        for term, term_maps, term_grad in zip(terms, packed_maps, grad_maps, strict=True):
            block = term.view_as(packed)
            _add_product(grad_x, block, term_maps.transpose(1, 2))
            torch.bmm(x_transposed, block.transpose(0, 1), out=term_grad)
        return blocks.unpack(grad_x, blocks.inputs, x.shape), blocks.unpack_maps(grad_maps, maps)

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
        product: Any = _FullFilter.apply
        to_grad = product(operator, of_x, maps) + product(operator, x, of_maps)
        to_x = product(operator, grad, of_maps.transpose(-1, -2))
        _, to_maps = _FullFilterBackward.apply(operator, grad, of_x, maps)
        return None, to_grad, to_x, to_maps

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, grad: Tensor, x: Tensor, maps: Tensor) -> Any:
        grad, x, maps = with_runs(info, in_dims[1:], grad, x, maps, at=1)
        return _FullFilterBackward.apply(operator, grad, x, maps), (1, 1)


def _add_product(z: Tensor, block: Tensor, maps: Tensor) -> None:
    """z += block @ maps for each of the B blocks: N x B x w' += N x B x w times B x w x w'."""
    if z.shape[1] == 1:
        z[:, 0].addmm_(block[:, 0], maps[0])
    else:
        z.transpose(0, 1).baddbmm_(block.transpose(0, 1), maps)

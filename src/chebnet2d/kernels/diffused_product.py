"""sum_k M^k X diag(s_k) W: one power series per column of X, then a map, as one autograd function.

Horner's scheme with the maps diag(s_k) W applied first: the graph is multiplied with as many columns as W has instead of those of
X. The backward pass goes through G, M^T G, (M^T)^2 G, ..., and each of them contributes to all gradients, so no term is kept.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from chebnet2d._stacks import StackFunction
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels.column_blocks import ColumnBlock, column_blocks


def diffused_product(operator: SparseOperator, x: Tensor | SparseOperator, shares: Tensor, weight: Tensor) -> Tensor:
    """sum_k operator^k x diag(shares[k]) weight: N x C, for operator: N x N, x: N x F, shares: K x F and weight: F x C.

    Differentiable once, in x where it is dense, in shares and in weight.
    """
    return (_OfSparse if isinstance(x, SparseOperator) else _OfDense).apply(operator, x, shares, weight)


class _OfSparse(StackFunction):
    """Unstacked: shares is K x F and weight F x C. Stacked: R x K x F and R x F x C."""

    @staticmethod
    def forward(operator: SparseOperator, x: SparseOperator, shares: Tensor, weight: Tensor) -> Tensor:
        all_shares, weights = _stacked(shares, weight)
        out = weights.new_empty(len(weights), x.shape[0], weights.shape[2])
        for block in _blocks(x, weights):
            columns, factors = _columns(block, weights, all_shares)
            scaled = columns * factors[-1]
            current = x.multiply(scaled.flatten(1))
            for k in range(len(factors) - 2, -1, -1):
                torch.mul(columns, factors[k], out=scaled)
                current = operator.multiply(current).add_(x.multiply(scaled.flatten(1)))
            block.write(current, out)
        return out.view(*weight.shape[:-2], *out.shape[1:])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Tensor) -> None:
        ctx.operator, ctx.x, shares, weight = inputs
        ctx.save_for_backward(shares, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        shares, weight = ctx.saved_tensors
        all_shares, weights = _stacked(shares, weight)
        grad = grads[0] if grads[0].dim() == 3 else grads[0].unsqueeze(0)
        grad_shares = torch.zeros_like(all_shares, memory_format=torch.contiguous_format)
        grad_weight = torch.empty_like(weights, memory_format=torch.contiguous_format)
        graph, transposed = ctx.operator.T, ctx.x.T
        for block in _blocks(ctx.x, weights):
            columns, factors = _columns(block, weights, all_shares)
            current = block.read(grad)
            work, of_columns = torch.empty_like(columns), torch.zeros_like(columns)
            for k in range(len(factors)):
                current = graph.multiply(current) if k > 0 else current
                of_map = transposed.multiply(current).view_as(columns)
                of_columns.addcmul_(of_map, factors[k])
                grad_shares[block.runs, k] += torch.mul(of_map, columns, out=work).sum(2).T
            block.write(of_columns.flatten(1), grad_weight)
        return None, None, grad_shares.view(shares.shape), grad_weight.view(weight.shape)


class _OfDense(StackFunction):
    """As above, and x is N x F or R x N x F. The K maps of a run are applied in one product."""

    @staticmethod
    def forward(operator: SparseOperator, x: Tensor, shares: Tensor, weight: Tensor) -> Tensor:
        all_shares, weights, signals = *_stacked(shares, weight), x if x.dim() == 3 else x.unsqueeze(0)
        out = weights.new_empty(len(weights), x.shape[-2], weights.shape[2])
        for signal, own_shares, own_weight, result in zip(signals, all_shares, weights, out, strict=True):
            terms = (signal @ _side_by_side(own_shares, own_weight)).unflatten(1, (len(own_shares), -1)).unbind(1)
            current = terms[-1].contiguous()
            for term in reversed(terms[:-1]):
                current = operator.multiply(current).add_(term)
            result.copy_(current)
        return out.view(*x.shape[:-1], weight.shape[-1])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> Any:
        x, shares, weight = ctx.saved_tensors
        all_shares, weights = _stacked(shares, weight)
        signals, grad = (x, grads[0]) if x.dim() == 3 else (x.unsqueeze(0), grads[0].unsqueeze(0))
        grad_x, grad_shares, grad_weight = torch.empty_like(signals), torch.empty_like(all_shares), torch.empty_like(weights)
        for r, (signal, own_shares, own_weight) in enumerate(zip(signals, all_shares, weights, strict=True)):
            terms = grad.new_empty(grad.shape[1], len(own_shares), grad.shape[2])
            current = grad[r].contiguous()
            for k in range(len(own_shares)):
                current = current if k == 0 else ctx.operator.T.multiply(current)
                terms[:, k] = current
            side_by_side = terms.flatten(1)
            if ctx.needs_input_grad[1]:
                torch.mm(side_by_side, _side_by_side(own_shares, own_weight).T, out=grad_x[r])
            of_maps = (signal.T @ side_by_side).view(-1, *terms.shape[1:])  # F x K x C
            torch.sum(of_maps * own_weight.unsqueeze(1), dim=2, out=grad_shares[r].T)
            torch.sum(of_maps * own_shares.T.unsqueeze(2), dim=1, out=grad_weight[r])
        of_x = grad_x.view(x.shape) if ctx.needs_input_grad[1] else None
        return None, of_x, grad_shares.view(shares.shape), grad_weight.view(weight.shape)


def _stacked(shares: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """R x K x F and R x F x C, with R = 1 where there is no stack."""
    return (shares, weight) if weight.dim() == 3 else (shares.unsqueeze(0), weight.unsqueeze(0))


def _blocks(x: SparseOperator, weights: Tensor) -> Iterator[ColumnBlock]:
    return column_blocks((len(weights), max(x.shape), weights.shape[2]))


def _columns(block: ColumnBlock, weights: Tensor, shares: Tensor) -> tuple[Tensor, Tensor]:
    """W of the r runs and c channels of a block as F x r x c, and the shares of these runs as K x F x r x 1."""
    part = block.read(weights)
    own = shares[block.runs].permute(1, 2, 0).contiguous()
    return part.view(part.shape[0], own.shape[2], -1), own.unsqueeze(3)


def _side_by_side(shares: Tensor, weight: Tensor) -> Tensor:
    """diag(shares[k]) weight for all k: F x (K C), of shares: K x F and weight: F x C."""
    return (shares.T.unsqueeze(2) * weight.unsqueeze(1)).flatten(1)

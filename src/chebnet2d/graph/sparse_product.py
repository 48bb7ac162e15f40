"""Products of a sparse matrix with dense ones as autograd functions, with their rules for stacks of runs."""

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from chebnet2d._stacks import StackFunction, with_runs

if TYPE_CHECKING:
    from chebnet2d.graph.sparse_operator import SparseOperator


class SparseProduct(torch.autograd.Function):
    """x: M x C -> N x C."""

    @staticmethod
    def forward(operator: "SparseOperator", x: Tensor) -> Tensor:
        # ``csr @ x`` would fill the result with zeros and copy it: two more passes over memory.
        out = x.new_empty(operator.shape[0], x.shape[1])
        return torch.addmm(out, operator.csr, x.contiguous(), beta=0, out=out)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple["SparseOperator", Tensor], output: Tensor) -> None:
        ctx.operator = inputs[0]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        return None, ctx.operator.T @ grads[0]

    @staticmethod
    def vmap(info: Any, in_dims: tuple[None, int | None], operator: "SparseOperator", x: Tensor) -> tuple[Tensor, int | None]:
        # All A x_r are A [x_1 | ... | x_R]: runs become columns, and A is read once.
        if in_dims[1] is None:
            return operator @ x, None
        folded = x.movedim(in_dims[1], 1)
        product = operator @ folded.reshape(folded.shape[0], -1)
        return product.reshape(operator.shape[0], *folded.shape[1:]), 1


class WeightedProduct(StackFunction):
    """values: nnz and x: M x C, or R x nnz and R x M x C, run after run: each run has values of its own."""

    @staticmethod
    def forward(operator: "SparseOperator", values: Tensor, x: Tensor) -> Tensor:
        return _multiply_each(operator, values, x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple["SparseOperator", Tensor, Tensor], output: Tensor) -> None:
        ctx.operator, values, _ = inputs
        ctx.save_for_backward(values)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor]:
        (values,) = ctx.saved_tensors
        transposed = values[..., ctx.operator.transpose_order]
        return None, None, WeightedProduct.apply(ctx.operator.T, transposed, grads[0])


class SampledProduct(StackFunction):
    """left: G x N x C, right: G x M x C -> G x nnz. Nothing of size nnz x C is allocated; runs are further parts of G."""

    @staticmethod
    def forward(operator: "SparseOperator", left: Tensor, right: Tensor) -> Tensor:
        out = left.new_empty(left.shape[0], operator.nnz)
        for entries, x, y in zip(out, left, right, strict=True):
            entries.copy_(torch.sparse.sampled_addmm(operator.csr, x.contiguous(), y.contiguous().T, beta=0).values())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor, Tensor]:
        left, right = ctx.saved_tensors
        transposed = grads[0][:, ctx.operator.transpose_order]
        return None, _multiply_each(ctx.operator, grads[0], right), _multiply_each(ctx.operator.T, transposed, left)

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: "SparseOperator", left: Tensor, right: Tensor) -> tuple[Tensor, int]:
        folded = (tensor.flatten(0, 1) for tensor in with_runs(info, in_dims[1:], left, right))
        return SampledProduct.apply(operator, *folded).unflatten(0, (info.batch_size, -1)), 0


def _multiply_each(operator: "SparseOperator", values: Tensor, x: Tensor) -> Tensor:
    """The product with x (M x C or R x M x C) of the matrix with these values (nnz or R x nnz)."""
    crow, col = operator.csr.crow_indices(), operator.csr.col_indices()
    if x.dim() == 2:
        return csr_tensor(crow, col, values.contiguous(), operator.shape) @ x.contiguous()
    out = x.new_empty(x.shape[0], operator.shape[0], x.shape[2])
    for r in range(x.shape[0]):
        torch.mm(csr_tensor(crow, col, values[r].contiguous(), operator.shape), x[r].contiguous(), out=out[r])
    return out


def csr_tensor(crow: Tensor, col: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    return torch.sparse_csr_tensor(crow, col, values, size=shape, check_invariants=False)


with warnings.catch_warnings():  # torch warns once that CSR is in beta, which users cannot change
    warnings.simplefilter("ignore")
    csr_tensor(torch.zeros(2, dtype=torch.int32), torch.zeros(0, dtype=torch.int32), torch.zeros(0), (1, 1))

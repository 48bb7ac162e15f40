"""Products of a sparse matrix with dense ones as autograd functions, with their rules for stacks of runs."""

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from chebnet2d._stacks import StackFunction, with_runs

if TYPE_CHECKING:
    from chebnet2d.graph.sparse_operator import SparseOperator


_FEW_COLUMNS = 16  # up to which a sparse product is as fast as an embedding bag


class SparseProduct(torch.autograd.Function):
    """x: M x C -> N x C."""

    @staticmethod
    def forward(operator: "SparseOperator", x: Tensor) -> Tensor:
        return multiply(operator.csr, x)

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
        ctx.operator, values, x = inputs
        ctx.save_for_backward(values, *([x] if ctx.needs_input_grad[1] else []))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor | None, Tensor]:
        values, *x = ctx.saved_tensors
        transposed = values.index_select(-1, ctx.operator.transpose_order)
        of_x = WeightedProduct.apply(ctx.operator.T, transposed, grads[0])
        return None, ctx.operator.sampled_product(grads[0], x[0]) if x else None, of_x


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
        transposed = grads[0].index_select(1, ctx.operator.transpose_order)
        return None, _multiply_each(ctx.operator, grads[0], right), _multiply_each(ctx.operator.T, transposed, left)

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: "SparseOperator", left: Tensor, right: Tensor) -> tuple[Tensor, int]:
        folded = (tensor.flatten(0, 1) for tensor in with_runs(info, in_dims[1:], left, right))
        return SampledProduct.apply(operator, *folded).unflatten(0, (info.batch_size, -1)), 0


def _multiply_each(operator: "SparseOperator", values: Tensor, x: Tensor) -> Tensor:
    """The product with x (M x C or R x M x C) of the matrix with these values (nnz or R x nnz)."""
    if x.dim() == 2:
        return multiply(operator.csr, x, values)
    out = x.new_empty(x.shape[0], operator.shape[0], x.shape[2])
    for r in range(x.shape[0]):
        out[r] = multiply(operator.csr, x[r], values[r])
    return out


def multiply(csr: Tensor, x: Tensor, values: Tensor | None = None) -> Tensor:
    """The product N x C of a CSR matrix and x: M x C, perhaps with other values in place of the stored ones. No gradients.

    An embedding bag computes the same sums as a sparse product, two to three times as fast where there are columns enough
    (``benchmarks/products.py``): its kernel is made for the processor at hand and prefetches the rows of x.
    """
    values = csr.values() if values is None else values.contiguous()
    if x.shape[1] > _FEW_COLUMNS and x.dtype == values.dtype == torch.float32 and x.device.type == "cpu" and values.numel():
        crow, col = csr.crow_indices(), csr.col_indices()
        return torch.embedding_bag(x.contiguous(), col, crow, False, 0, False, values, True)[0]
    matrix = csr_tensor(csr.crow_indices(), csr.col_indices(), values, csr.shape)
    # ``matrix @ x`` would fill the result with zeros and copy it: two more passes over memory.
    out = x.new_empty(csr.shape[0], x.shape[1])
    return torch.addmm(out, matrix, x.contiguous(), beta=0, out=out)


def csr_tensor(crow: Tensor, col: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    return torch.sparse_csr_tensor(crow, col, values, size=shape, check_invariants=False)


with warnings.catch_warnings():  # torch warns once that CSR is in beta, which users cannot change
    warnings.simplefilter("ignore")
    csr_tensor(torch.zeros(2, dtype=torch.int32), torch.zeros(0, dtype=torch.int32), torch.zeros(0), (1, 1))

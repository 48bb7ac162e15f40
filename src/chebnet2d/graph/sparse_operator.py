"""A sparse matrix that multiplies dense ones, with a gradient and a rule for stacks of runs."""

import warnings
from typing import Any, cast

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._stacks import with_runs

_INT32_MAX = 2**31 - 1


class SparseOperator:
    """A sparse N x M matrix in CSR form with int32 indices, ready for repeated products with dense matrices.

    CSR with int32 is what the CPU kernels want: int64 indices are converted on every product, and coordinate
    lists need a scatter. The values are constants: gradients flow through the dense factor only.

    ``operator @ x`` is differentiable (twice, if need be) and may stand inside ``torch.func.vmap``: a stack of R
    right-hand sides becomes one product of width R * C, so the matrix is read once.
    """

    __slots__ = ("__weakref__", "_transpose", "_transpose_order", "csr", "symmetric")

    def __init__(self, csr: Tensor, *, symmetric: bool = False) -> None:
        self.csr = csr
        self.symmetric = symmetric
        self._transpose: SparseOperator | None = self if symmetric else None
        self._transpose_order: Tensor | None = None

    # ---- construction -------------------------------------------------------------------------------------
    @classmethod
    def from_scipy(cls, matrix: Any, *, dtype: torch.dtype = torch.float32, symmetric: bool = False) -> "SparseOperator":
        """From any scipy sparse matrix. Duplicates are summed; ``symmetric=True`` is the caller's promise."""
        if not scipy.sparse.issparse(matrix):
            raise InputError("SparseOperator.from_scipy", "matrix", "a scipy sparse matrix", matrix)
        matrix = scipy.sparse.csr_array(matrix)
        matrix.sum_duplicates()
        if max(matrix.nnz, *matrix.shape) > _INT32_MAX:
            raise InputError("SparseOperator", "matrix", f"of at most {_INT32_MAX} entries, rows and columns", matrix.nnz)
        return cls(
            _csr_tensor(
                torch.from_numpy(matrix.indptr.astype(np.int32)),
                torch.from_numpy(matrix.indices.astype(np.int32)),
                torch.from_numpy(np.ascontiguousarray(matrix.data)).to(dtype),
                matrix.shape,
            ),
            symmetric=symmetric,
        )

    @classmethod
    def from_dense(cls, x: Tensor) -> "SparseOperator":
        """The non-zero entries of a dense matrix: how bag-of-words features become cheap."""
        if not isinstance(x, Tensor) or x.dim() != 2:
            raise InputError("SparseOperator.from_dense", "x", "a 2-dimensional tensor", x)
        return cls.from_scipy(scipy.sparse.csr_array(x.detach().cpu().numpy()), dtype=x.dtype).to(device=x.device)

    @classmethod
    def from_torch(cls, tensor: Tensor, *, dtype: torch.dtype | None = None) -> "SparseOperator":
        """From a torch sparse tensor of any layout (COO, CSR, CSC)."""
        if not isinstance(tensor, Tensor) or tensor.layout == torch.strided:
            raise InputError("SparseOperator.from_torch", "tensor", "a torch sparse tensor", tensor)
        if tensor.dim() != 2:
            raise InputError("SparseOperator.from_torch", "tensor", "2-dimensional", tensor)
        coo = tensor.detach().to_sparse_coo().coalesce().cpu()
        row, col = coo.indices().numpy()
        matrix = scipy.sparse.coo_array((coo.values().numpy(), (row, col)), shape=tuple(coo.shape))
        return cls.from_scipy(matrix, dtype=dtype or tensor.dtype).to(device=tensor.device)

    # ---- what it is ---------------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.csr.shape
        return rows, columns

    @property
    def nnz(self) -> int:
        return int(self.csr.values().numel())

    @property
    def dtype(self) -> torch.dtype:
        return self.csr.dtype

    @property
    def device(self) -> torch.device:
        return self.csr.device

    @property
    def values(self) -> Tensor:
        return self.csr.values()

    @property
    def density(self) -> float:
        rows, columns = self.shape
        return self.nnz / max(rows * columns, 1)

    @property
    def T(self) -> "SparseOperator":
        """The transpose, built once and kept (the operator itself when it is symmetric)."""
        if self._transpose is None:
            self._transpose = SparseOperator.from_scipy(self.to_scipy().T, dtype=self.dtype).to(device=self.device)
            self._transpose._transpose = self
        return self._transpose

    def __repr__(self) -> str:
        rows, columns = self.shape
        kind = "symmetric, " if self.symmetric else ""
        return f"SparseOperator({rows} x {columns}, {kind}{self.nnz} entries, {self.dtype})"

    # ---- conversion ---------------------------------------------------------------------------------------
    def to(self, *, dtype: torch.dtype | None = None, device: torch.device | str | None = None) -> "SparseOperator":
        """The same matrix in another precision or on another device; itself where nothing changes."""
        dtype = dtype or self.dtype
        target = torch.device(device) if device is not None else self.device
        if dtype == self.dtype and target == self.device:
            return self
        return SparseOperator(
            _csr_tensor(
                self.csr.crow_indices().to(target),
                self.csr.col_indices().to(target),
                self.values.to(target, dtype),
                self.shape,
            ),
            symmetric=self.symmetric,
        )

    def to_scipy(self) -> Any:
        parts = (self.values, self.csr.col_indices(), self.csr.crow_indices())
        return scipy.sparse.csr_array(tuple(part.cpu().numpy() for part in parts), shape=self.shape)

    def to_dense(self) -> Tensor:
        return torch.from_numpy(self.to_scipy().toarray()).to(self.device)

    # ---- products -----------------------------------------------------------------------------------------
    def __matmul__(self, x: Tensor) -> Tensor:
        if not isinstance(x, Tensor) or x.dim() not in (1, 2) or x.shape[0] != self.shape[1]:
            raise InputError("SparseOperator", "the right factor", f"a tensor with {self.shape[1]} rows", x)
        if x.dtype != self.dtype:
            raise InputError(
                "SparseOperator",
                "the right factor",
                f"dtype {self.dtype}",
                got=str(x.dtype),
                hint="Convert one of them with .to(dtype=...).",
                verb="have",
            )
        if x.dim() == 1:
            return (self @ x.unsqueeze(1)).squeeze(1)
        return cast(Tensor, _SparseProduct.apply(self, x))

    def weighted_product(self, values: Tensor, x: Tensor) -> Tensor:
        """The product with ``values`` in the place of the stored ones, as dropout of sparse features needs it.

        Differentiable in ``x``, not in ``values``. Under ``vmap`` each run has its own values, so the runs are multiplied
        one after the other: each reads its own weights from a cache they fit in.
        """
        return cast(Tensor, _WeightedProduct.apply(self, values, x))

    def sampled_product(self, left: Tensor, right: Tensor) -> Tensor:
        """The entries of ``left @ right.T`` at the stored places, in the order of ``values``, and no others.

        ``left``: N x C, ``right``: M x C; or G x N x C and G x M x C for G x nnz entries. Differentiable in both. Under ``vmap``
        runs are further parts of G.
        """
        if left.dim() == 2:
            return self.sampled_product(left.unsqueeze(0), right.unsqueeze(0)).squeeze(0)
        return cast(Tensor, _SampledProduct.apply(self, left, right))

    @property
    def transpose_order(self) -> Tensor:
        """Where the stored values of the transpose stand among those of this matrix."""
        if self._transpose_order is None:
            numbered = self.to_scipy().astype(np.float64)
            numbered.data = np.arange(self.nnz, dtype=np.float64)
            order = scipy.sparse.csr_array(numbered.T.tocsr()).data.astype(np.int64)
            self._transpose_order = torch.from_numpy(order).to(self.device)
        return self._transpose_order

    def step(self, x: Tensor, previous: Tensor, alpha: float, beta: float, out: Tensor | None = None) -> Tensor:
        """``alpha * self @ x + beta * previous`` in one pass over the output, which may be ``previous`` itself.

        Outside autograd: a kernel's tool.
        """
        return torch.addmm(previous, self.csr, x, beta=beta, alpha=alpha, out=out)


class _SparseProduct(torch.autograd.Function):
    @staticmethod
    def forward(operator: SparseOperator, x: Tensor) -> Tensor:
        # ``csr @ x`` would fill the result with zeros and copy it, two more passes over memory.
        out = x.new_empty(operator.shape[0], x.shape[1])
        return torch.addmm(out, operator.csr, x.contiguous(), beta=0, out=out)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[SparseOperator, Tensor], output: Tensor) -> None:
        ctx.operator = inputs[0]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        return None, ctx.operator.T @ grads[0]

    @staticmethod
    def vmap(info: Any, in_dims: tuple[None, int | None], operator: SparseOperator, x: Tensor) -> tuple[Tensor, int | None]:
        # A x_r for r = 1..R is A [x_1 | ... | x_R]: runs become columns, and A is read once.
        if in_dims[1] is None:
            return operator @ x, None
        folded = x.movedim(in_dims[1], 1)
        product = operator @ folded.reshape(folded.shape[0], -1)
        return product.reshape(operator.shape[0], *folded.shape[1:]), 1


class _WeightedProduct(torch.autograd.Function):
    """values: nnz and x: M x C, or R x nnz and R x M x C."""

    @staticmethod
    def forward(operator: SparseOperator, values: Tensor, x: Tensor) -> Tensor:
        return _multiply_each(operator, values, x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[SparseOperator, Tensor, Tensor], output: Tensor) -> None:
        ctx.operator, values, _ = inputs
        ctx.save_for_backward(values)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor]:
        (values,) = ctx.saved_tensors
        transposed = values[..., ctx.operator.transpose_order]
        return None, None, _WeightedProduct.apply(ctx.operator.T, transposed, grads[0])

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, values: Tensor, x: Tensor) -> tuple[Tensor, int]:
        return _WeightedProduct.apply(operator, *with_runs(info, in_dims[1:], values, x)), 0


class _SampledProduct(torch.autograd.Function):
    """left: G x N x C, right: G x M x C. Nothing of size nnz x C is made: torch gathers, multiplies and sums entry by entry."""

    @staticmethod
    def forward(operator: SparseOperator, left: Tensor, right: Tensor) -> Tensor:
        out = left.new_empty(left.shape[0], operator.nnz)
        for entries, x, y in zip(out, left, right, strict=True):
            entries.copy_(torch.sparse.sampled_addmm(operator.csr, x.contiguous(), y.contiguous().T, beta=0).values())
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[SparseOperator, Tensor, Tensor], output: Tensor) -> None:
        ctx.operator, left, right = inputs
        ctx.save_for_backward(left, right)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor, Tensor]:
        left, right = ctx.saved_tensors
        transposed = grads[0][:, ctx.operator.transpose_order]
        return None, _multiply_each(ctx.operator, grads[0], right), _multiply_each(ctx.operator.T, transposed, left)

    @staticmethod
    def vmap(info: Any, in_dims: Any, operator: SparseOperator, left: Tensor, right: Tensor) -> tuple[Tensor, int]:
        folded = (tensor.flatten(0, 1) for tensor in with_runs(info, in_dims[1:], left, right))
        return _SampledProduct.apply(operator, *folded).unflatten(0, (info.batch_size, -1)), 0


def _multiply_each(operator: SparseOperator, values: Tensor, x: Tensor) -> Tensor:
    crow, col = operator.csr.crow_indices(), operator.csr.col_indices()
    if x.dim() == 2:
        return _csr_tensor(crow, col, values.contiguous(), operator.shape) @ x.contiguous()
    out = x.new_empty(x.shape[0], operator.shape[0], x.shape[2])
    for r in range(x.shape[0]):
        torch.mm(_csr_tensor(crow, col, values[r].contiguous(), operator.shape), x[r].contiguous(), out=out[r])
    return out


def _csr_tensor(crow: Tensor, col: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    return torch.sparse_csr_tensor(crow, col, values, size=shape, check_invariants=False)


with warnings.catch_warnings():  # torch announces once that CSR is in beta; users can do nothing about it
    warnings.simplefilter("ignore")
    _csr_tensor(torch.zeros(2, dtype=torch.int32), torch.zeros(0, dtype=torch.int32), torch.zeros(0), (1, 1))

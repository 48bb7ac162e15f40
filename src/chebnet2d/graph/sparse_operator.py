"""A sparse matrix for products with dense ones, with gradients and a rule for stacks of runs."""

from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.graph.sparse_product import SampledProduct, SparseProduct, WeightedProduct, csr_tensor, multiply

_INT32_MAX = 2**31 - 1


class SparseOperator:
    """A sparse N x M matrix in CSR form with int32 indices, for repeated products with dense matrices.

    The CPU kernels of torch need CSR with int32: int64 indices are converted in every product, and coordinate lists need a
    scatter. The values are constants: gradients flow through the dense factor only.

    ``operator @ x`` with x: M x C (or M) is N x C (or N), differentiable any number of times, and works inside
    ``torch.func.vmap``: a stack of R right-hand sides becomes one product of width R C, so the matrix is read once.

    ``kind``: which operator of a graph it is, where it was made as such (``operator_of``); None for any other matrix.
    """

    __slots__ = ("__weakref__", "_transpose", "_transpose_order", "csr", "kind", "symmetric")

    def __init__(self, csr: Tensor, *, symmetric: bool = False, kind: str | None = None) -> None:
        self.csr = csr
        self.symmetric = symmetric
        self.kind = kind
        self._transpose: SparseOperator | None = self if symmetric else None
        self._transpose_order: Tensor | None = None

    @classmethod
    def from_scipy(cls, matrix: Any, *, dtype: torch.dtype = torch.float32, symmetric: bool = False) -> "SparseOperator":
        """From any scipy sparse matrix. Duplicates are summed. ``symmetric=True`` is a promise by the caller, not checked."""
        if not scipy.sparse.issparse(matrix):
            raise InputError("SparseOperator.from_scipy", "matrix", "a scipy sparse matrix", matrix)
        matrix = scipy.sparse.csr_array(matrix)
        matrix.sum_duplicates()
        if max(matrix.nnz, *matrix.shape) > _INT32_MAX:
            raise InputError("SparseOperator", "matrix", f"of at most {_INT32_MAX} entries, rows and columns", matrix.nnz)
        crow, col = (torch.from_numpy(part.astype(np.int32)) for part in (matrix.indptr, matrix.indices))
        values = torch.from_numpy(np.ascontiguousarray(matrix.data)).to(dtype)
        return cls(csr_tensor(crow, col, values, matrix.shape), symmetric=symmetric)

    @classmethod
    def from_dense(cls, x: Tensor) -> "SparseOperator":
        """The non-zero entries of a dense N x M matrix, for features that are mostly zero, such as bags of words."""
        if not isinstance(x, Tensor) or x.dim() != 2:
            raise InputError("SparseOperator.from_dense", "x", "a 2-dimensional tensor", x)
        return cls.from_scipy(scipy.sparse.csr_array(x.detach().cpu().numpy()), dtype=x.dtype).to(device=x.device)

    @classmethod
    def from_torch(cls, tensor: Tensor, *, dtype: torch.dtype | None = None) -> "SparseOperator":
        """From a torch sparse tensor of any layout (COO, CSR, CSC)."""
        if not isinstance(tensor, Tensor) or tensor.layout == torch.strided or tensor.dim() != 2:
            raise InputError("SparseOperator.from_torch", "tensor", "a torch sparse tensor of 2 dimensions", tensor)
        coo = tensor.detach().to_sparse_coo().coalesce().cpu()
        row, col = coo.indices().numpy()
        matrix = scipy.sparse.coo_array((coo.values().numpy(), (row, col)), shape=tuple(coo.shape))
        return cls.from_scipy(matrix, dtype=dtype or tensor.dtype).to(device=tensor.device)

    @property
    def shape(self) -> tuple[int, int]:
        return self.csr.shape[0], self.csr.shape[1]

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
        """The stored numbers, row by row: a vector of length ``nnz``."""
        return self.csr.values()

    @property
    def T(self) -> "SparseOperator":
        """The transpose, computed once and kept (the operator itself if it is symmetric)."""
        if self._transpose is None:
            self._transpose = SparseOperator.from_scipy(self.to_scipy().T, dtype=self.dtype).to(device=self.device)
            self._transpose._transpose = self
        return self._transpose

    def __repr__(self) -> str:
        kind = "symmetric, " if self.symmetric else ""
        return f"SparseOperator({self.shape[0]} x {self.shape[1]}, {kind}{self.nnz} entries, {self.dtype})"

    def to(self, *, dtype: torch.dtype | None = None, device: torch.device | str | None = None) -> "SparseOperator":
        """The same matrix with another dtype or on another device; itself if nothing changes."""
        dtype = dtype or self.dtype
        target = torch.device(device) if device is not None else self.device
        if dtype == self.dtype and target == self.device:
            return self
        crow, col, values = self.csr.crow_indices().to(target), self.csr.col_indices().to(target), self.values.to(target, dtype)
        return SparseOperator(csr_tensor(crow, col, values, self.shape), symmetric=self.symmetric, kind=self.kind)

    def with_values(self, values: Tensor) -> "SparseOperator":
        """The matrix that has ``values`` (nnz numbers of any floating point dtype) in place of the stored ones."""
        return SparseOperator(csr_tensor(self.csr.crow_indices(), self.csr.col_indices(), values.contiguous(), self.shape))

    def to_scipy(self) -> Any:
        parts = (self.values, self.csr.col_indices(), self.csr.crow_indices())
        return scipy.sparse.csr_array(tuple(part.cpu().numpy() for part in parts), shape=self.shape)

    def to_dense(self) -> Tensor:
        """All numbers, zeros too: a matrix of the operator's shape."""
        return torch.from_numpy(self.to_scipy().toarray()).to(self.device)

    def __matmul__(self, x: Tensor) -> Tensor:
        if not isinstance(x, Tensor) or x.dim() not in (1, 2) or x.shape[0] != self.shape[1]:
            raise InputError("SparseOperator", "the right factor", f"a tensor with {self.shape[1]} rows", x)
        if x.dtype != self.dtype:
            rule, hint = f"dtype {self.dtype}", "Convert one of them with .to(dtype=...)."
            raise InputError("SparseOperator", "the right factor", rule, got=str(x.dtype), hint=hint, verb="have")
        if x.dim() == 1:
            return (self @ x.unsqueeze(1)).squeeze(1)
        return SparseProduct.apply(self, x)

    def weighted_product(self, values: Tensor, x: Tensor) -> Tensor:
        """The product with x: M x C, with ``values`` (nnz numbers) in place of the stored ones, as in dropout of sparse features.

        The result is N x C, differentiable in both. Under ``vmap`` each run has its own values, so there is
        one product per run.
        """
        return WeightedProduct.apply(self, values, x)

    def sampled_product(self, left: Tensor, right: Tensor) -> Tensor:
        """The entries of ``left @ right.T`` at the stored positions only, in the order of ``values``.

        ``left``: N x C, ``right``: M x C, for nnz entries; or G x N x C and G x M x C for G x nnz. Differentiable once, in both.
        """
        if left.dim() == 2:
            return self.sampled_product(left.unsqueeze(0), right.unsqueeze(0)).squeeze(0)
        return SampledProduct.apply(self, left, right)

    @property
    def transpose_order(self) -> Tensor:
        """nnz indices: ``values[transpose_order]`` are the values of the transpose, in its order."""
        if self._transpose_order is None:
            numbered = self.to_scipy().astype(np.float64)
            numbered.data = np.arange(self.nnz, dtype=np.float64)
            order = scipy.sparse.csr_array(numbered.T.tocsr()).data.astype(np.int64)
            self._transpose_order = torch.from_numpy(order).to(self.device)
        return self._transpose_order

    def multiply(self, x: Tensor, values: Tensor | None = None) -> Tensor:
        """``self @ x`` for x: M x C without gradients, perhaps with ``values`` (nnz numbers) in place of the stored ones."""
        return multiply(self.csr, x, values)

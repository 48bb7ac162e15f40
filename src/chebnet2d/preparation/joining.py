"""Blocks of columns side by side as one tensor: dense, or CSR where that is much smaller."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d.graph import SparseOperator

DENSE_LIMIT = 256 * 2**20
"""Bytes of a dense float32 x; above it x is a sparse CSR tensor."""


def joined(parts: Sequence[Any], rows: int, *, sparse: bool = False, limit: int = DENSE_LIMIT) -> Tensor:
    """``parts``: numpy arrays or scipy CSR matrices with ``rows`` rows each."""
    dense_bytes = 4 * rows * sum(part.shape[1] for part in parts)
    stored = sum(part.nnz if scipy.sparse.issparse(part) else np.count_nonzero(part) for part in parts)
    # CSR needs 8 bytes for an entry: beyond half density it would be the larger of the two.
    if sparse or (dense_bytes > limit and stored * 8 < dense_bytes):
        return sparse_tensor(scipy.sparse.hstack([scipy.sparse.csr_array(part) for part in parts], format="csr"))
    whole = [part.toarray() if scipy.sparse.issparse(part) else part for part in parts]
    matrix = whole[0] if len(whole) == 1 else np.concatenate(whole, axis=1) if whole else np.zeros((rows, 0))
    return torch.from_numpy(np.ascontiguousarray(matrix, dtype=np.float32))


def sparse_tensor(matrix: Any) -> Tensor:
    """A torch CSR tensor of float32 values, as the datasets of the catalogue have it."""
    return SparseOperator.from_scipy(matrix, dtype=torch.float32).csr

"""Columns of X as dense blocks, whatever X is."""

from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d.graph import SparseOperator


class Columns:
    """Gives some columns of a dense or sparse X at a time."""

    def __init__(self, x: Tensor | SparseOperator) -> None:
        self.dense = x if isinstance(x, Tensor) else None
        # By columns, so that a block is a slice. As large as the stored entries, not as N x F.
        self.sparse = None if isinstance(x, Tensor) else scipy.sparse.csc_array(x.to_scipy())

    def copy(self, start: int, stop: int, target: Tensor) -> None:
        if self.dense is not None:
            target.copy_(self.dense[:, start:stop])
            return
        if target.device.type != "cpu":
            block = torch.empty(target.shape)
            self.copy(start, stop, block)
            target.copy_(block)
            return
        part: Any = self.sparse
        target.zero_()
        first, last = part.indptr[start], part.indptr[stop]
        columns = np.repeat(np.arange(stop - start), np.diff(part.indptr[start : stop + 1]))
        rows = part.indices[first:last].astype(np.int64)
        # Entries are unique: a SparseOperator has its duplicates summed.
        target.view(-1)[torch.from_numpy(rows * (stop - start) + columns)] = torch.from_numpy(part.data[first:last]).to(
            target.dtype
        )

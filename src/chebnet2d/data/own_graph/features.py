"""The features of all nodes, in blocks of columns, and how they become one matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.data.dataset import DENSE_LIMIT
from chebnet2d.data.own_graph.feature_blocks import Block
from chebnet2d.graph import SparseOperator

FILL = "Fill such values with 'zero' or 'mean' by {}."


@dataclass
class Features:
    """What a source says about the nodes' features. ``ids`` is ``None`` if its rows are the nodes 0..rows - 1."""

    label: str
    rows: int
    blocks: list[Block]
    ids: Any = None
    names: list[str] | None = None
    sparse: bool = False

    def matrix(self, order: Any, missing: str) -> Tensor:
        """N x F for the nodes, ``order[n]`` being the row of node n or -1. Float32, dense or torch CSR."""
        parts = []
        for block in self.blocks:
            place = block.missing() if missing == "error" else None
            if place is not None:
                raise InputError("", place, "a value", got="none", hint=FILL, mentions=("missing_features",), verb="have")
            parts.append(block.rows(order, block.means() if missing == "mean" else np.zeros(block.width)))
        dense_bytes = 4 * len(order) * sum(block.width for block in self.blocks)
        stored = sum(part.nnz if scipy.sparse.issparse(part) else np.count_nonzero(part) for part in parts)
        # CSR needs 8 bytes for an entry: beyond half density it would be the larger of the two.
        if self.sparse or (dense_bytes > DENSE_LIMIT and stored * 8 < dense_bytes):
            return sparse_tensor(scipy.sparse.hstack([scipy.sparse.csr_array(part) for part in parts], format="csr"))
        whole = [part.toarray() if scipy.sparse.issparse(part) else part for part in parts]
        joined = whole[0] if len(whole) == 1 else np.concatenate(whole, axis=1)
        return torch.from_numpy(np.ascontiguousarray(joined, dtype=np.float32))


def sparse_tensor(matrix: Any) -> Tensor:
    """A torch CSR tensor of float32 values, as the datasets of the catalogue have it."""
    return SparseOperator.from_scipy(matrix, dtype=torch.float32).csr

"""What a dataset holds, counted in the terms of the catalogue."""

from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from chebnet2d.data.catalogue import Statistics
from chebnet2d.data.dataset import num_classes


def statistics(data: Data) -> Statistics:
    """Nodes, undirected edges, features, classes, edge homophily, isolated, twin and duplicated nodes of a ``Data``."""
    row, col = data.edge_index.numpy()
    nodes, y = int(data.num_nodes), data.y.numpy()
    known = (y[row] >= 0) & (y[col] >= 0)
    equal = int((y[row] == y[col])[known].sum())
    twins, duplicates = count_twins(data)
    return Statistics(
        nodes=nodes,
        edges=row.size // 2,
        features=int(data.num_features),
        classes=num_classes(data),
        homophily=round(equal / int(known.sum()), 4) if known.any() else None,
        isolated=nodes - int(np.unique(row).size),
        twins=twins,
        duplicates=duplicates,
    )


def count_twins(data: Data) -> tuple[int, int]:
    """Nodes that repeat an earlier one: in neighbours and label (twins), and in features too (duplicates).

    Nodes with fewer than two neighbours are left out: leaves of one hub look alike by chance. Rows are compared by two random
    64-bit sums each: different ones agree with a probability of about 2^-128.
    """
    rng = np.random.default_rng(0)
    nodes, features = int(data.num_nodes), int(data.num_features)
    row, col = data.edge_index.numpy()
    degree = np.bincount(row, minlength=nodes)
    codes, weights, label = (rng.integers(1, 2**64, (size, 2), dtype=np.uint64) for size in (nodes, features, 1))
    with np.errstate(over="ignore"):
        # Edges and stored features are sorted by row: a difference of running sums (modulo 2^64) is the sum of a row.
        keys = _row_sums(codes[col], degree)
        keys += _bits(data.y.numpy())[:, None] * label
        twins = _repeated(keys[degree > 1])
        x = data.x
        if x.layout != torch.strided:
            csr = x.to_sparse_csr()
            bits = _bits(csr.values().numpy())[:, None] * weights[csr.col_indices().numpy()]
            keys += _row_sums(bits, np.diff(csr.crow_indices().numpy()))
        else:
            dense = x.numpy()
            for start in range(0, nodes, 4096):
                keys[start : start + 4096] += _bits(dense[start : start + 4096]) @ weights
    return twins, _repeated(keys[degree > 1])


def _repeated(keys: Any) -> int:
    return len(keys) - np.unique(keys, axis=0).shape[0]


def _row_sums(values: Any, lengths: Any) -> Any:
    total = np.concatenate([np.zeros((1, 2), np.uint64), np.cumsum(values, axis=0, dtype=np.uint64)])
    ends = np.cumsum(lengths)
    return total[ends] - total[ends - lengths]


def _bits(values: Any) -> Any:
    """The numbers as unsigned integers, bit by bit: zero stays zero, different numbers stay different."""
    values = np.ascontiguousarray(values) + 0  # -0.0 becomes 0.0
    return values.view(np.uint32 if values.dtype.itemsize == 4 else np.uint64).astype(np.uint64)

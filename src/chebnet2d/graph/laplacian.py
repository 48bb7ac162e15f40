"""The normalised operators of a graph, all N x N: P = D^-1/2 A D^-1/2, L = I - P, L_hat = L - I = -P."""

import numpy as np
import scipy.sparse
import torch

from chebnet2d.graph.sparse_operator import SparseOperator


def normalized_adjacency(
    adjacency: SparseOperator, *, add_self_loops: bool = False, dtype: torch.dtype = torch.float32
) -> SparseOperator:
    """P = D^-1/2 A D^-1/2 (N x N); with ``add_self_loops`` the same formula for A + I (GCN's operator).

    A node without edges has degree 0 and, without self loops, a row of zeros.
    """
    matrix = adjacency.to_scipy().astype(np.float64)
    if add_self_loops:
        matrix = scipy.sparse.csr_array(matrix + scipy.sparse.eye_array(matrix.shape[0]))
    degree = matrix.sum(axis=1)
    scale = np.zeros_like(degree)
    np.divide(1.0, np.sqrt(degree), out=scale, where=degree > 0)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    # a * (s_i * s_j), not (a * s_i) * s_j: the rounded matrix is then exactly symmetric.
    matrix.data = matrix.data * (scale[rows] * scale[matrix.indices])
    return SparseOperator.from_scipy(matrix, dtype=dtype, symmetric=True)


def row_stochastic_adjacency(adjacency: SparseOperator, *, dtype: torch.dtype = torch.float32) -> SparseOperator:
    """D~^-1 (A + I), N x N: rows sum to 1. Not symmetric."""
    matrix = scipy.sparse.csr_array(adjacency.to_scipy().astype(np.float64) + scipy.sparse.eye_array(adjacency.shape[0]))
    matrix.data = matrix.data / np.repeat(matrix.sum(axis=1), np.diff(matrix.indptr))
    return SparseOperator.from_scipy(matrix, dtype=dtype)


def mean_adjacency(adjacency: SparseOperator, *, dtype: torch.dtype = torch.float32) -> SparseOperator:
    """D^-1 A (N x N): the mean over neighbours. A node without edges has a row of zeros. Not symmetric."""
    matrix = adjacency.to_scipy().astype(np.float64)
    matrix.data = matrix.data / np.repeat(matrix.sum(axis=1), np.diff(matrix.indptr))
    return SparseOperator.from_scipy(matrix, dtype=dtype)


def laplacian(adjacency: SparseOperator, *, dtype: torch.dtype = torch.float32) -> SparseOperator:
    """L = I - P (N x N), spectrum in [0, 2]. An isolated node has L_ii = 1, as the formula says."""
    p = normalized_adjacency(adjacency, dtype=torch.float64).to_scipy()
    return SparseOperator.from_scipy(scipy.sparse.eye_array(p.shape[0]) - p, dtype=dtype, symmetric=True)


def shifted_laplacian(adjacency: SparseOperator, *, dtype: torch.dtype = torch.float32) -> SparseOperator:
    """L_hat = L - I = -P (N x N), spectrum in [-1, 1]: the operator inside every polynomial filter."""
    return SparseOperator.from_scipy(-normalized_adjacency(adjacency, dtype=dtype).to_scipy(), dtype=dtype, symmetric=True)

"""The weighted example graph by numpy alone, and what compares a model with it."""

import numpy as np
import torch

from example_graphs import weighted

N, F_IN, C = 17, 6, 3


class Dense:
    """The weighted example graph (two components, isolated nodes) by numpy alone."""

    def __init__(self) -> None:
        edge_index, weight, _ = weighted(3)
        a = np.zeros((N, N))
        for (i, j), w in zip(edge_index.T.tolist(), weight.tolist(), strict=True):
            a[i, j] += w
        np.fill_diagonal(a, 0)
        self.a = np.maximum(a, a.T)
        row, col = self.a.nonzero()
        self.edge_index = torch.from_numpy(np.stack([row, col]))
        self.edge_weight = torch.from_numpy(self.a[row, col])
        self.p = self._normalised(self.a)
        self.p_loops = self._normalised(self.a + np.eye(N))
        self.x = torch.randn(N, F_IN, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
        self.inputs = (self.x, self.edge_index, self.edge_weight)

    @staticmethod
    def _normalised(a: np.ndarray) -> np.ndarray:
        degree = a.sum(1)
        scale = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
        return scale[:, None] * a * scale


def ready(model):
    """In float64 and evaluation mode, with parameters away from their special starts."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model.double().eval()


def numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().numpy()


def filter_input(model, dense: Dense) -> np.ndarray:
    return numpy(model.mlp(dense.x))


def by_eigenvalues(matrix: np.ndarray, h: np.ndarray, g) -> np.ndarray:
    """U g(l) U^T h; g gives one number an eigenvalue, or one for each eigenvalue and channel."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    values = np.asarray(g(eigenvalues))
    return vectors @ (values.reshape(N, -1) * (vectors.T @ h))


def close(found: torch.Tensor, wanted: np.ndarray, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(numpy(found), wanted, rtol=0, atol=atol)

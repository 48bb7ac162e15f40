"""FavardGNN against determinants of its Jacobi matrix."""

import numpy as np

from chebnet2d import models
from dense_graph import F_IN, C, N, by_eigenvalues, close, filter_input, numpy, ready


def test_favardgnn_against_determinants_of_its_jacobi_matrix(dense):
    model = ready(models.FavardGNN(F_IN, C, 5, degree=4, variant="unified"))
    shift, size, alpha = (numpy(v) for v in (model.conv.shift, model.conv.size.clamp(min=0.01), model.conv.paradigm.theta))

    def g(eigenvalues: np.ndarray) -> np.ndarray:
        out = np.zeros((N, C))
        for c in range(C):
            for k in range(5):
                jacobi = np.diag(shift[:k, c]) + np.diag(size[1:k, c], 1) + np.diag(size[1:k, c], -1)
                at = [np.linalg.det(value * np.eye(k) - jacobi) if k else 1.0 for value in eigenvalues]
                out[:, c] += alpha[k, c] * np.array(at) / size[: k + 1, c].prod()
        return out

    close(model(*dense.inputs), by_eigenvalues(dense.p, filter_input(model, dense), g), atol=1e-8)

"""BernNet against the binomial distribution."""

import numpy as np
import scipy.interpolate
import scipy.linalg
import scipy.special
import scipy.stats
import torch

from chebnet2d import models
from dense_graph import F_IN, C, N, by_eigenvalues, close, filter_input, numpy, ready


def test_bernnet_against_the_binomial_distribution(dense):
    # binom(K, k) 2^-K l^k (2 - l)^(K - k) is the probability of k hits in K trials of probability l / 2.
    model = ready(models.BernNet(F_IN, C, 5, degree=8))
    theta = np.maximum(numpy(model.conv.paradigm.theta) - 0.9, 0)  # some of them 0
    with torch.no_grad():
        model.conv.paradigm.theta -= 0.9
    assert 0 < (theta == 0).sum() < 9

    def g(eigenvalues: np.ndarray) -> np.ndarray:
        share = np.clip(eigenvalues / 2, 0, 1)
        return sum(theta[k] * scipy.stats.binom.pmf(k, 8, share) for k in range(9))

    close(model(*dense.inputs), by_eigenvalues(np.eye(N) - dense.p, filter_input(model, dense), g))

"""APPNP against torch_geometric's and against personalised PageRank."""

import numpy as np
from torch_geometric.nn import APPNP as PyGAPPNP

from chebnet2d import models
from dense_graph import F_IN, C, N, close, filter_input, numpy, ready


def test_appnp_is_torch_geometrics(dense):
    model = ready(models.APPNP(F_IN, C, 5, steps=7, alpha=0.2))
    expected = PyGAPPNP(K=7, alpha=0.2)(model.mlp(dense.x), dense.edge_index, dense.edge_weight)
    close(model(*dense.inputs), numpy(expected))


def test_appnp_tends_to_the_personalised_pagerank(dense):
    model = ready(models.APPNP(F_IN, C, 5, steps=150, alpha=0.2))
    close(model(*dense.inputs), 0.2 * np.linalg.inv(np.eye(N) - 0.8 * dense.p_loops) @ filter_input(model, dense))

"""The MLP against two linear maps."""

import numpy as np

from chebnet2d import models
from dense_graph import F_IN, C, close, numpy, ready


def test_mlp_is_two_linear_maps(dense):
    model = ready(models.MLPClassifier(F_IN, C, 5))
    w1, b1, w2, b2 = (numpy(model.state_dict()[f"mlp.layers.{i}.{part}"]) for i in (0, 1) for part in ("weight", "bias"))
    close(model(*dense.inputs), np.maximum(numpy(dense.x) @ w1 + b1, 0) @ w2 + b2)

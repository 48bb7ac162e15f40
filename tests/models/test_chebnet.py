"""ChebNet against torch_geometric's layers."""

import pytest
import torch
from torch_geometric.nn import ChebConv

from chebnet2d import models
from dense_graph import F_IN, C, close, numpy, ready


@pytest.mark.parametrize("terms", [1, 2, 6])
def test_chebnet_is_torch_geometrics(dense, terms):
    model = ready(models.ChebNet(F_IN, C, 5, terms=terms))
    x = dense.x
    for i, layer in enumerate(model.layers):
        theirs = ChebConv(*layer.weight.shape[1:], K=terms).double()
        theirs.load_state_dict({"bias": layer.bias, **{f"lins.{k}.weight": layer.weight[k].T for k in range(terms)}})
        x = theirs(x, dense.edge_index, dense.edge_weight, lambda_max=torch.tensor(2.0))
        x = x.relu() if i == 0 else x
    close(model(*dense.inputs), numpy(x))

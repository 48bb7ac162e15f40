"""GCN against its published vector and torch_geometric's layers."""

import pytest
import torch
from torch_geometric.nn import GCNConv

from chebnet2d.models import GCN
from example_graphs import graph
from oracle_vectors import check_vector, read_vector
from randomised_model import randomised

GCN_NAMES = {f"layers.{i}.{part}": f"conv{i + 1}.{part}" for i in (0, 1) for part in ("bias",)} | {
    f"layers.{i}.weight": f"conv{i + 1}.lin.weight.T" for i in (0, 1)
}


@pytest.mark.parametrize("name", ["gcn", "pyg_gcnconv"])
def test_gcn_reproduces_the_published_vector(name):
    check_vector(GCN(12, 4, hidden_channels=8), read_vector(name), GCN_NAMES)


def test_gcn_with_batch_norm_is_torch_geometrics_layers_with_torchs_batch_norm():
    edge_index, weight, _, x = graph()
    model = randomised(GCN(6, 3, hidden_channels=5, num_layers=3, batch_norm=True))
    reference = [GCNConv(6, 5).double(), GCNConv(5, 5).double(), GCNConv(5, 3).double()]
    hidden = x
    for i, (layer, ours) in enumerate(zip(reference, model.layers, strict=True)):
        layer.lin.weight.data = ours.weight.data.T
        assert (ours.bias is None) == (i < 2)
        if ours.bias is not None:
            layer.bias.data = ours.bias.data
        hidden = layer(hidden, edge_index, weight)
        if i < 2:
            norm = model.norms[i]
            hidden = torch.nn.functional.batch_norm(hidden, norm.running_mean, norm.running_var, norm.weight, norm.bias).relu()
    torch.testing.assert_close(model(x, edge_index, weight), hidden)

"""GCN where the features are fewer than the hidden units."""

import pytest
import torch
import torch_geometric.nn
import torch_geometric.utils

from batch_examples import gcn, with_weights


class TestNarrowFeatures:
    """GCN multiplies the graph with the features themselves where they are fewer than the hidden units."""

    @pytest.mark.parametrize("batch_norm", [False, True])
    def test_it_is_torch_geometrics_layers(self, data, batch_norm):
        data = with_weights(data)
        model = gcn(data, num_layers=3, batch_norm=batch_norm).double().eval()
        x = data.x.double().requires_grad_()
        for _ in range(2):  # the second time from memory
            hidden = x
            for i, ours in enumerate(model.layers):
                layer = torch_geometric.nn.GCNConv(*ours.weight.shape, bias=ours.bias is not None).double()
                layer.lin.weight.data = ours.weight.data.T
                hidden = layer(hidden, data.edge_index, data.edge_weight.double())
                hidden = hidden if i == 2 else (model.norms[i](hidden) if batch_norm else hidden).relu()
            for given_x in (x, x.detach()):
                torch.testing.assert_close(model(given_x, data.edge_index, data.edge_weight), hidden)
        found = torch.autograd.grad(model(x, data.edge_index, data.edge_weight).square().sum(), [x, *model.parameters()])
        kept = torch.autograd.grad(model(x.detach(), data.edge_index, data.edge_weight).square().sum(), list(model.parameters()))
        assert float(found[0].abs().sum()) > 0
        for one, other in zip(found[1:], kept, strict=True):
            torch.testing.assert_close(one, other)

    def test_what_is_kept_follows_the_features_and_the_mode(self, data):
        model = gcn(data).eval()
        x = data.x.clone()
        with torch.inference_mode():
            before = model(x, data.edge_index).clone()
        torch.testing.assert_close(model(x, data.edge_index), before)
        model(x, data.edge_index).sum().backward()  # nothing of inference mode was kept
        x *= 2
        torch.testing.assert_close(model(x, data.edge_index), model(x.clone(), data.edge_index))
        assert not torch.allclose(model(x, data.edge_index), before)

"""The tuned GCN and GraphSAGE against stacks of torch_geometric's layers with the same weights: values and gradients."""

import pytest
import torch
from torch_geometric.nn import GCNConv, JumpingKnowledge, SAGEConv

from chebnet2d import InputError
from chebnet2d.models import MODELS
from example_graphs import graph
from randomised_model import randomised

F, H, C = 6, 5, 3
OPTIONS = [
    {},
    {"num_layers": 1, "residual": True},
    {"num_layers": 3, "norm": "layer", "residual": True, "jumping": "cat"},
    {"num_layers": 3, "norm": "batch", "jumping": "max", "pre_linear": True},
    {"num_layers": 2, "norm": "batch", "residual": True, "pre_linear": True},
]


class Reference(torch.nn.Module):
    """Layers of torch and torch_geometric, with our parameters: linear maps are stored the other way round there."""

    def __init__(self, ours, name):
        super().__init__()
        self.ours, self.name = ours, name

    def linear(self, layer, x):
        return torch.nn.functional.linear(x, layer.weight.T, layer.bias)

    def conv(self, layer, x, edge_index, weight):
        if self.name == "tuned-gcn":
            conv = GCNConv(*layer.weight.shape, bias=layer.bias is not None)
            state = {"lin.weight": layer.weight.T, "bias": layer.bias}
        else:
            conv = SAGEConv(*layer.own.weight.shape, bias=layer.own.bias is not None)
            state = {"lin_l.weight": layer.neighbours.weight.T, "lin_l.bias": layer.own.bias, "lin_r.weight": layer.own.weight.T}
        state = {key: value for key, value in state.items() if value is not None}
        inputs = (x, edge_index, weight) if self.name == "tuned-gcn" else (x, edge_index)
        return torch.func.functional_call(conv, state, inputs)

    def forward(self, x, edge_index, weight):
        ours = self.ours
        x = x if ours.first is None else self.linear(ours.first, x)
        outputs = []
        for i, layer in enumerate(ours.layers):
            out = self.conv(layer, x, edge_index, weight)
            out = out + self.linear(ours.residuals[i], x) if ours.residuals else out
            if ours.norms:
                norm = ours.norms[i]
                if isinstance(norm, torch.nn.LayerNorm):
                    out = torch.nn.functional.layer_norm(out, (H,), norm.weight, norm.bias)
                else:
                    out = torch.nn.functional.batch_norm(out, norm.running_mean, norm.running_var, norm.weight, norm.bias)
            x = out.relu()
            outputs.append(x)
        joined = outputs[-1] if ours.jumping == "none" else JumpingKnowledge(ours.jumping)(outputs)
        return self.linear(ours.last, joined)


@pytest.mark.parametrize("name", ["tuned-gcn", "tuned-sage"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_values_and_gradients_are_those_of_torch_geometrics_layers(name, options):
    edge_index, weight, _, x = graph()
    weight = weight if name == "tuned-gcn" else None  # SAGEConv has none
    model = randomised(MODELS[name](F, C, hidden_channels=H, **options))
    factor = torch.randn(x.shape[0], C, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    found = []
    for run in (model, Reference(model, name)):
        logits = run(x, edge_index, weight)
        found.append((logits, torch.autograd.grad((logits * factor).sum(), list(model.parameters()))))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-10, atol=1e-12)
    for (parameter, _), one, other in zip(model.named_parameters(), found[0][1], found[1][1], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11, msg=parameter)


def test_graphsage_takes_means_by_weight():
    edge_index, weight, nodes, x = graph()
    layer = randomised(MODELS["tuned-sage"](F, C, hidden_channels=H)).layers[0]
    dense = torch.zeros(nodes, nodes, dtype=torch.float64).index_put_(tuple(edge_index), weight)
    mean = (dense @ x) / dense.sum(dim=1, keepdim=True).clamp(min=1e-300)
    expected = mean @ layer.neighbours.weight + x @ layer.own.weight + layer.own.bias
    torch.testing.assert_close(layer(x, edge_index, weight), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": "graph"}, "TunedGCN: norm must be one of 'none', 'batch', 'layer'"),
        ({"jumping": "lstm"}, "TunedGCN: jumping must be one of 'none', 'cat', 'max'"),
        ({"residual": 1}, "TunedGCN: residual must be True or False"),
        ({"num_layers": 0}, "TunedGCN: num_layers must be an integer >= 1"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        MODELS["tuned-gcn"](F, C, **options)

"""What golden vectors cannot see: what training begins with, what dropout acts on, and which optimiser group a parameter is in.

The expected values are those of the published implementations.
"""

import inspect
import math

import pytest
import torch

import chebnet2d
from chebnet2d.models import MODELS
from example_graphs import weighted

N, F, C, H = 17, 6, 3, 8
SIZES = {"in_channels": F, "out_channels": C, "hidden_channels": H}


def make(name, **options):
    nodes = {"num_nodes": N} if name in ("linkx", "glognn") else {}
    model = MODELS[name](**SIZES, **nodes, **options)
    chebnet2d.training.initialise_parameters(model, 0)
    return model


def first_rows(width, rows):
    """1 in the first row, 0 in the others."""
    return torch.eye(rows)[:, :1].expand(rows, width)


STARTS = {
    "bernnet": {"conv.paradigm.theta": torch.ones(11)},
    "chebnetii": {"conv.paradigm.theta": torch.ones(11)},
    "optbasis": {"conv.paradigm.theta": first_rows(H, 11)},
    "favardgnn": {"conv.paradigm.theta": first_rows(H, 11), "conv.shift": torch.zeros(10, H), "conv.size": torch.ones(11, H)},
    "adc": {"layers.0.diffusion.t": torch.full((F,), 3.0), "layers.1.diffusion.t": torch.full((H,), 3.0)},
    "glognn": {"mixing.channel_weight": torch.full((C,), 1 / C), "mixing.order_weight": torch.full((3,), 1 / 3)},
    "nodeformer": {"layers.0.relational.strength": torch.full((2, 4), 0.1)},
    "pdegcn": {"mix.logit": torch.zeros(1)},
}


@pytest.mark.parametrize(("name", "parameter"), [(name, parameter) for name, values in STARTS.items() for parameter in values])
def test_filters_start_as_published(name, parameter):
    torch.testing.assert_close(make(name).get_parameter(parameter).detach(), STARTS[name][parameter])


@pytest.mark.parametrize(("alpha", "eta"), [(0.5, 1.0), (1.0, 1.0), (2.0, 0.5)])
def test_jacobiconv_starts_with_equal_weights_and_scales_of_at_most_one(alpha, eta):
    model = make("jacobiconv", alpha=alpha)
    assert (model.conv.paradigm.theta == 1).all()
    torch.testing.assert_close(model.conv.paradigm.eta.detach(), torch.full((10,), eta))


def test_gcnii_starts_its_layers_within_one_over_the_root_of_the_width():
    weights = torch.stack([layer.weight.detach() for layer in make("gcnii", num_layers=50).layers])
    assert 0.98 / math.sqrt(H) < weights.abs().max() <= 1 / math.sqrt(H)
    assert weights.mean().abs() < 0.02


def test_pdegcn_starts_its_layers_near_the_identity():
    rest = torch.stack([layer.weight.detach() - torch.eye(H) for layer in make("pdegcn").layers])
    assert rest.min() >= -1e-7, "1 + u is rounded"
    assert 0.9e-3 < rest.max() <= 1e-3 + 1e-7


GROUPS = {
    "adc": {
        "diffusion": {"layers.0.diffusion.t", "layers.1.diffusion.t"},
        "first": {"layers.0.linear.weight", "layers.0.linear.bias"},
    },
    "appnp": {"first": {"mlp.layers.0.weight", "mlp.layers.0.bias"}},
    "bernnet": {"filter": {"conv.paradigm.theta"}},
    "chebnet": {},
    "chebnetii": {"filter": {"conv.paradigm.theta"}},
    "dsgc": {},
    "favardgnn": {"basis": {"conv.shift", "conv.size"}, "filter": {"conv.paradigm.theta"}},
    "gcn": {},
    "gcnii": {"conv": {f"layers.{layer}.weight" for layer in range(16)}},
    "glognn": {},
    "gnn-hf": {"first": {"mlp.layers.0.weight"}},
    "gnn-lf": {"first": {"mlp.layers.0.weight"}},
    "gprgnn": {"filter": {"conv.paradigm.theta"}},
    "jacobiconv": {"scale": {"conv.paradigm.eta"}, "filter": {"conv.paradigm.theta"}},
    "linkx": {},
    "nodeformer": {},
    "optbasis": {"filter": {"conv.paradigm.theta"}},
    "pdegcn": {"kernel": {f"layers.{layer}.weight" for layer in range(8)}, "mix": {"mix.logit"}},
    "specgn": {"filter": {"convs.0.paradigm.theta"}},
}


@pytest.mark.parametrize("name", GROUPS)
def test_optimiser_groups_are_the_published_ones(name):
    model = make(name)
    found: dict[str, set[str]] = {}
    for parameter, _ in model.named_parameters():
        found.setdefault(model.group_of(parameter), set()).add(parameter)
    found.pop("weights")
    assert found == GROUPS[name]


# (method, its arguments, what is left of the logits if that dropout lets nothing through). 0: not even a bias.
NOTHING_LEFT = [
    *((name, "filter_dropout", lambda model, graph: 0) for name in ("chebnet2d", "chebnetii", "bernnet", "gprgnn", "jacobiconv")),
    *(
        (name, "dropout", lambda model, graph: model.conv(model.mlp.layers[1].bias.expand(N, C), graph))
        for name in ("chebnet2d", "chebnetii", "bernnet", "gprgnn", "appnp")
    ),
    ("jacobiconv", "dropout", lambda model, graph: model.conv(model.mlp[1].bias.expand(N, C), graph)),
    *((name, "dropout", lambda model, graph: model.closing[1].bias) for name in ("optbasis", "favardgnn")),
    ("mlp", "dropout", lambda model, graph: model.mlp.layers[1].bias),
    ("gcn", "dropout", lambda model, graph: model.layers[1].bias),
    ("chebnet", "dropout", lambda model, graph: model.layers[1].bias),
    ("adc", "dropout", lambda model, graph: model.layers[1].linear.bias),
    ("dsgc", "dropout", lambda model, graph: model.second.bias),
    ("gcnii", "dropout", lambda model, graph: model.last.bias),
    ("pdegcn", "dropout", lambda model, graph: 0),
    ("linkx", "dropout", lambda model, graph: model.final_mlp.layers[1].bias),
]


@pytest.mark.parametrize(("name", "rate", "left"), [pytest.param(*case, id=f"{case[0]}-{case[1]}") for case in NOTHING_LEFT])
def test_dropout_acts_where_the_published_code_has_it(name, rate, left):
    """At a rate of nearly 1 nothing passes: what comes out says where the mask is."""
    rates = {each: 0.0 for each in ("dropout", "filter_dropout") if each in inspect.signature(MODELS[name]).parameters}
    model = make(name, **{**rates, rate: 0.99999}).train()
    graph = weighted(nodes=N)[0]
    torch.manual_seed(1)
    logits = model(torch.rand(N, F), graph)
    expected = torch.as_tensor(left(model, graph), dtype=logits.dtype).expand(N, C)
    torch.testing.assert_close(logits, expected)
    assert not torch.allclose(model.eval()(torch.rand(N, F), graph), expected), "without the mask something does pass"

"""ChebNet2D+: each option switches off to what is known, and no node learns from its own label."""

import pytest
import torch

import chebnet2d
from chebnet2d import InputError
from chebnet2d.data import csbm, split
from chebnet2d.kernels.random_streams import random_streams
from chebnet2d.models import MODELS, ChebNet2D
from chebnet2d.training import Run, Settings, fit_many
from chebnet2d.training.learners.stack import Stack, shard_streams
from example_graphs import graph
from randomised_model import randomised

N, F, C = 17, 6, 3
Plus = MODELS["chebnet2d-plus"]
PLAIN = {"norm": "none", "residual": False, "rows": False, "labels": False, "num_layers": 2}


def plus(**options):
    return Plus(F, C, N, **{"hidden_channels": 8, "degree": 3, "dropout": 0.0, **options})


def with_labels(model, seed=0):
    known = torch.randint(-1, C, (N,), generator=torch.Generator().manual_seed(seed))
    model.take_labels(known)
    return known


def test_without_options_it_is_chebnet2d():
    edge_index, weight, _, x = graph()
    model = randomised(plus(**PLAIN))
    reference = ChebNet2D(F, C, hidden_channels=8, degree=3).double().eval()
    state = {name.replace("layers.", "mlp.layers."): value for name, value in model.state_dict().items()}
    reference.load_state_dict(state)
    torch.testing.assert_close(model(x, edge_index, weight), reference(x, edge_index, weight))


def test_rows_of_the_graph_begin_behind_a_closed_gate_and_are_a_times_v():
    edge_index, weight, _, x = graph()
    model = plus(labels=False, num_layers=1, norm="none").double().eval()
    chebnet2d.training.initialise_parameters(model, 0)
    before = model(x, edge_index, weight)
    torch.testing.assert_close(before, model.conv(model.layers[0](x), edge_index, weight))
    with torch.no_grad():
        model.rows.gate.fill_(0.7)
    dense = torch.zeros(N, N, dtype=torch.float64).index_put_(tuple(edge_index), weight)
    expected = model.conv(model.layers[0](x) + 0.7 * dense @ model.rows.weight, edge_index, weight)
    torch.testing.assert_close(model(x, edge_index, weight), expected)
    assert not torch.allclose(before, expected)


@pytest.mark.parametrize("norm", ["none", "batch", "layer"])
def test_norm_and_residual_are_those_of_torch(norm):
    edge_index, weight, _, x = graph()
    model = randomised(plus(norm=norm, rows=False, labels=False, num_layers=4))
    first, *rest, last = model.layers
    hidden = first(x)

    def normed(i, value):
        if norm == "layer":
            return torch.nn.functional.layer_norm(value, (8,), model.norms[i].weight, model.norms[i].bias)
        if norm == "batch":
            one = model.norms[i]
            return torch.nn.functional.batch_norm(value, one.running_mean, one.running_var, one.weight, one.bias)
        return value

    for i, layer in enumerate(rest):
        hidden = hidden + layer(normed(i, hidden).relu())
    expected = model.conv(last(normed(2, hidden).relu()), edge_index, weight)
    torch.testing.assert_close(model(x, edge_index, weight), expected)


def test_in_evaluation_all_known_labels_are_channels():
    edge_index, weight, _, x = graph()
    model = randomised(plus(rows=False))
    known = with_labels(model)
    one_hot = torch.zeros(N, C, dtype=torch.float64)
    for node, label in enumerate(known.tolist()):
        if label >= 0:
            one_hot[node, label] = 1
    without = randomised(plus(rows=False, labels=False))
    without.load_state_dict(
        {k: v for k, v in model.state_dict().items() if k in without.state_dict() and "conv" not in k}, strict=False
    )
    signal = []
    without.conv.register_forward_pre_hook(lambda _, inputs: signal.append(inputs[0]))
    without(x, edge_index, weight)
    expected = model.conv(torch.cat([signal[0], one_hot], dim=1), edge_index, weight)
    torch.testing.assert_close(model(x, edge_index, weight), expected)


def training_logits(models, seeds):
    edge_index, weight, _, x = graph()
    stack = Stack(models, [Settings()] * len(models), [shard_streams(seed, 1)[0] for seed in seeds])
    return stack.forward((x, edge_index, weight), training=True)[0].detach()


@pytest.mark.parametrize("runs", [1, 3])
def test_in_training_no_logit_depends_on_the_label_of_its_node(runs):
    """Alone and in a stack, over many masks: a changed label moves the logits of others and never those of its own node."""
    moved = 0
    for seed in range(6):
        models = [randomised(plus(dropout=0.3)) for _ in range(runs)]
        known = [with_labels(model, seed + r) for r, model in enumerate(models)]
        before = training_logits(models, range(seed, seed + runs))
        for node in range(12):  # the others have no edges
            changed = known[0].clone()
            changed[node] = (known[0][node] + 1) % C if known[0][node] >= 0 else -1
            models[0].take_labels(changed)
            after = training_logits(models, range(seed, seed + runs))
            assert torch.equal(after[0, node], before[0, node])
            assert torch.equal(after[1:], before[1:]), "runs of a stack do not see each other's labels"
            moved += int(not torch.equal(after[0], before[0]))
    assert moved > 10


def test_only_hidden_nodes_are_learned_from_and_their_gradient_is_that_of_their_mean():
    edge_index, weight, _, x = graph()
    model = randomised(plus(hidden_labels=0.25)).train()
    known = with_labels(model)
    with random_streams(shard_streams(5, 1)):
        logits = model(x, edge_index, weight)
    shown = (logits == 0).all(dim=1)
    assert not shown[known < 0].any()
    assert 0 < int(shown.sum()) < int((known >= 0).sum())
    with random_streams(shard_streams(5, 1)):
        channels, again = model.labels(torch.zeros(N, 1, dtype=torch.float64))
    assert torch.equal(again, shown)
    torch.testing.assert_close(channels[shown].sum(dim=1), torch.full((int(shown.sum()),), 1 / 0.75, dtype=torch.float64))
    assert (channels[~shown] == 0).all()
    values = torch.randn(N, C, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(model.labels.hide_shown(values, shown).sum(), values)
    assert (gradient[shown] == 0).all()
    torch.testing.assert_close(gradient[~shown], torch.full_like(gradient[~shown], 4.0))


def test_fit_gives_it_the_labels_of_training_nodes_alone_and_they_are_saved(tmp_path):
    data = csbm(80, 3, 6, seed=0)
    parts = [split(data, seed=seed) for seed in range(2)]
    runs = [Run(Plus(6, 3, 80, hidden_channels=8), part, seed, Settings(epochs=4)) for seed, part in enumerate(parts)]
    for result, part in zip(fit_many(runs, data, width=2), parts, strict=True):
        known = result.model.labels.known
        assert torch.equal(known[part.train], data.y[part.train])
        assert (known[torch.cat([part.val, part.test])] == -1).all()
        loaded = chebnet2d.load(chebnet2d.save(result.model, tmp_path / str(part.seed)))
        assert torch.equal(loaded.predict(data).probabilities, result.model.predict(data).probabilities)


def test_labels_of_neighbours_are_used():
    """Features tell nothing, the labels of neighbours everything."""
    data = csbm(300, 3, 6, degree=10, homophily=0.9, seed=1)
    data.x = torch.ones_like(data.x)
    part, scores = split(data, seed=0), {}
    for labels in (False, True):
        model = Plus(6, 3, 300, hidden_channels=8, rows=False, labels=labels)
        scores[labels] = chebnet2d.fit(model, data, part, epochs=100).val_metric
    assert scores[True] > 0.85
    assert scores[False] < 0.6


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: plus(hidden_labels=0.0), r"ChebNet2DPlus: hidden_labels must be a number in \[0.05, 0.95\], got 0.0"),
        (lambda: plus(norm="graph"), "ChebNet2DPlus: norm must be one of"),
        (lambda: plus(rows=False)(torch.rand(5, F), torch.empty(2, 0).long()), "ChebNet2DPlus: x must have num_nodes = 17 rows"),
        (
            lambda: plus(labels=False)(torch.rand(5, F), torch.empty(2, 0).long()),
            "ChebNet2DPlus: x must have num_nodes = 17 rows",
        ),
    ],
)
def test_wrong_calls_are_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()

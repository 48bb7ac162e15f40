"""What every registered model must do. A new one is taken up by its registration; nothing needs to be added here."""

import inspect

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import chebnet2d
from chebnet2d import models
from chebnet2d.graph import SparseOperator
from chebnet2d.models import CANNOT_STACK, MODELS, MethodInfo
from chebnet2d.training import Run, Settings, fit_many

FEATURES, CLASSES = 24, 3
SETTINGS = {"chebnet2d": [{"rank": 2}, {"scaling": "paper"}], "gnn-lf": [{"form": "closed"}], "gnn-hf": [{"form": "closed"}]}
SETTINGS["chebnetii"] = [{"layout": layout, "batch_norm": layout == "between"} for layout in ("hidden", "first", "between")]
SETTINGS["jacobiconv"] = [{"basis": basis} for basis in ("legendre", "chebyshev", "monomial", "bernstein")]
SETTINGS["specgn"] = [{"operator": "rho", "epsilon": 0.25}, {"epsilon": -0.25}]
SETTINGS["dsgc"] = [{"rows": "lp", "columns": "lazy"}]
SETTINGS["optbasis"] = [{"coefficients": "shared"}]
WITHOUT_WEIGHTS = {"mlp": "does not look at the graph", "nodeformer": "uses which edges there are"}


def cases() -> list:
    """Every model with its defaults, in its unified variant where there is one, and with settings that take other paths."""
    found = []
    for name, model in MODELS.items():
        if not model.__module__.startswith("chebnet2d."):
            continue  # registered by another test
        options = [{}, *SETTINGS.get(name, [])]
        if "variant" in inspect.signature(model).parameters:
            options.append({"variant": "unified"})
        found += [pytest.param(name, o, id="-".join([name, *map(str, o.values())])) for o in options]
    return found


every_model = pytest.mark.parametrize(("name", "options"), cases())


def make(name: str, options: dict, nodes: int, **more):
    model = MODELS[name]
    known = inspect.signature(model).parameters
    arguments = {"hidden_channels": 8, **options, **more}
    if "num_nodes" in known:
        arguments["num_nodes"] = nodes
    return model(FEATURES, CLASSES, **{key: value for key, value in arguments.items() if key in known})


def without_dropout(name: str) -> dict:
    return {key: 0.0 for key in inspect.signature(MODELS[name]).parameters if key.endswith("dropout")}


def perturbed(model, size: float = 0.05):
    """Away from special starts: identities, zeros and ones hide mistakes."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(size * torch.randn(parameter.shape, generator=generator, dtype=torch.float64).to(parameter.dtype))
    return model


def logits_of(model, *inputs) -> torch.Tensor:
    out = model(*inputs)
    return out[0] if isinstance(out, tuple) else out


@pytest.fixture(scope="module")
def data():
    """Presence of words, as citation graphs have it, on a graph with two isolated nodes."""
    found = chebnet2d.data.load("csbm", nodes=90, classes=CLASSES, features=FEATURES, homophily=0.8, degree=6, signal=4.0, seed=3)
    found.x = (found.x > 0.6).float()
    kept = (found.edge_index >= 2).all(dim=0)
    found.edge_index = found.edge_index[:, kept]
    return found


@pytest.mark.parametrize("name", MODELS)
def test_says_what_it_is(name):
    info = MODELS[name].info
    assert isinstance(info, MethodInfo)
    assert any(year in info.citation for year in map(str, range(1958, 2030))), "a citation has a year"


@every_model
def test_gives_logits_for_every_node(name, options, data):
    model = make(name, options, 90).eval()
    logits = logits_of(model, data.x, data.edge_index)
    assert logits.shape == (90, CLASSES)
    assert logits.dtype == torch.float32
    assert bool(torch.isfinite(logits).all())


@every_model
def test_config_rebuilds_the_model(name, options):
    model = make(name, options, 90)
    again = type(model)(**model.config)
    shapes = {key: value.shape for key, value in model.state_dict().items()}
    assert {key: value.shape for key, value in again.state_dict().items()} == shapes
    accepted = set(inspect.signature(type(model)).parameters)
    assert set(model.config) == accepted, "config holds every argument of the constructor"


@every_model
def test_permutation_equivariance(name, options, data):
    model = perturbed(make(name, options, 90)).double().eval()
    order = torch.from_numpy(np.random.default_rng(0).permutation(90))
    place = torch.empty_like(order)
    place[order] = torch.arange(90)
    x = data.x.double()
    expected = logits_of(model, x, data.edge_index)[order]
    state = dict(model.named_parameters())
    with torch.no_grad():
        for parameter in type(model).per_node:
            state[parameter].copy_(state[parameter][order])
    torch.testing.assert_close(logits_of(model, x[order], place[data.edge_index]), expected, rtol=0, atol=1e-9)


@every_model
def test_evaluation_is_deterministic(name, options, data):
    model = perturbed(make(name, options, 90)).eval()
    first = logits_of(model, data.x, data.edge_index)
    torch.manual_seed(123)
    torch.testing.assert_close(logits_of(model, data.x, data.edge_index), first, rtol=0, atol=0)


@every_model
def test_save_and_load(name, options, data, tmp_path):
    model = perturbed(make(name, options, 90)).train()
    logits_of(model, data.x, data.edge_index)  # moves the running statistics of a batch norm
    model.eval()
    loaded = chebnet2d.load(chebnet2d.save(model, tmp_path / "model"))
    expected = logits_of(model, data.x, data.edge_index)
    torch.testing.assert_close(logits_of(loaded, data.x, data.edge_index), expected, rtol=0, atol=0)


@every_model
@pytest.mark.parametrize("edges", ["isolated nodes", "none"])
def test_gradients_are_finite(name, options, data, edges):
    model = make(name, options, 90)
    edge_index = data.edge_index if edges == "isolated nodes" else torch.empty(2, 0, dtype=torch.long)
    out = model.train()(data.x, edge_index)
    logits, penalty = out if isinstance(out, tuple) else (out, 0.0)
    (F.cross_entropy(logits, data.y) + penalty).backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is None or bool(torch.isfinite(parameter.grad).all()), key


@every_model
def test_no_parameter_without_gradient(name, options, data):
    model = perturbed(make(name, options, 90, **without_dropout(name))).double().train()
    out = model(data.x.double(), data.edge_index)
    logits, penalty = out if isinstance(out, tuple) else (out, 0.0)
    (F.cross_entropy(logits, data.y) + penalty).backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is not None, f"{key} is not used"
        assert bool((parameter.grad != 0).any()), f"{key} has no effect"


@every_model
def test_sparse_features_equal_dense_ones(name, options, data):
    model = perturbed(make(name, options, 90)).double().eval()
    x = data.x.double()
    torch.testing.assert_close(
        logits_of(model, SparseOperator.from_dense(x), data.edge_index), logits_of(model, x, data.edge_index), rtol=0, atol=1e-10
    )


def free_values(name: str, options: dict, run: int) -> dict:
    """Other values for each run of what may differ in a stack: rates, and numbers that are buffers or starts."""
    if "form" in options:
        return {"dropout": 0.3 * run}  # the length of the series depends on the numbers
    defaults = {key: parameter.default for key, parameter in inspect.signature(MODELS[name]).parameters.items()}
    numbers = {key: defaults[key] for key in MODELS[name].free if isinstance(defaults.get(key), float)}
    return {key: 0.3 * run if key.endswith("dropout") else value * (1 - 0.2 * run) for key, value in numbers.items()}


@every_model
def test_edge_weights_are_heard(name, options, data):
    model = perturbed(make(name, options, 90)).double().eval()
    x, ones = data.x.double(), torch.ones(data.edge_index.shape[1], dtype=torch.float64)
    plain = logits_of(model, x, data.edge_index)
    torch.testing.assert_close(logits_of(model, x, data.edge_index, ones), plain, rtol=0, atol=1e-10)
    low, high = data.edge_index.sort(dim=0).values
    weights = 0.5 + ((7 * low + 13 * high) % 10).double() / 10  # the same in both directions
    weighted = logits_of(model, x, data.edge_index, weights)
    assert bool(torch.isfinite(weighted).all())
    if name not in WITHOUT_WEIGHTS:
        assert not torch.allclose(weighted, plain, atol=1e-6)


@every_model
def test_stacked_equals_looped(name, options, data):
    if name in CANNOT_STACK:
        assert CANNOT_STACK[name].strip(), "the list gives a reason"
        pytest.skip(CANNOT_STACK[name])
    splits = [chebnet2d.data.split(data, "uniform", seed=seed) for seed in range(3)]
    settings = [Settings.of(lr=lr, epochs=4, filter_lr=0.02) for lr in (0.01, 0.02, 0.005)]

    def runs() -> list[Run]:
        return [
            Run(make(name, options, 90, **free_values(name, options, r)).double(), splits[r], r, settings[r]) for r in range(3)
        ]

    stacked, looped = fit_many(runs(), data, width=3), fit_many(runs(), data, width=1)
    for one, other in zip(stacked, looped, strict=True):
        np.testing.assert_allclose(one.history.train_loss, other.history.train_loss, rtol=1e-7)
        np.testing.assert_allclose(one.history.val_loss, other.history.val_loss, rtol=1e-7)
        for key, value in other.model.state_dict().items():
            torch.testing.assert_close(one.model.state_dict()[key], value, rtol=1e-6, atol=1e-7)


@every_model
def test_learns_more_than_chance(name, options, data):
    model = make(name, options, 90, hidden_channels=16)
    split = chebnet2d.data.split(data, "uniform", seed=0)
    result = chebnet2d.fit(model, data, split, seed=0, epochs=40, lr=0.03, weight_decay=1e-4)
    everywhere = (model.predict(data).labels == data.y)[split.test].double().mean()
    assert result.test["accuracy"] == pytest.approx(float(everywhere))
    assert result.test["accuracy"] > 0.55, f"chance is 1 / {CLASSES}"


@pytest.mark.parametrize("name", MODELS)
def test_wrong_features_are_refused(name, data):
    with pytest.raises(chebnet2d.InputError, match=f"must be an N x {FEATURES} tensor"):
        make(name, {}, 90)(data.x[:, :5], data.edge_index)


def test_runs_of_a_model_that_cannot_be_stacked_are_looped(data, monkeypatch):
    def runs() -> list[Run]:
        splits = [chebnet2d.data.split(data, "uniform", seed=seed) for seed in range(2)]
        return [Run(make("mlp", {}, 90), split, 5, Settings(epochs=3)) for split in splits]

    alone = fit_many(runs(), data, width=1)
    monkeypatch.setitem(CANNOT_STACK, "mlp", "for this test")
    monkeypatch.setattr(torch.func, "vmap", None)  # a stack of more than one run would call it
    for one, other in zip(fit_many(runs(), data, width=2), alone, strict=True):
        assert one.history.val_loss == other.history.val_loss


def test_runs_of_a_stack_agree_in_what_is_no_buffer(data):
    split = chebnet2d.data.split(data, "uniform", seed=0)
    runs = [Run(models.ChebNetII(FEATURES, CLASSES, relu=relu), split) for relu in (True, False)]
    with pytest.raises(chebnet2d.InputError, match="must have the same relu, got True and False"):
        fit_many(runs, data)

"""Every registered model passes ``check_method``. A new one is taken up by its registration; nothing needs to be added here."""

import inspect

import pytest
import torch

import chebnet2d
from chebnet2d import models
from chebnet2d.models import MODELS
from chebnet2d.testing import _Subject, check_method
from chebnet2d.training import Run, fit_many
from shipped_methods import OURS

SETTINGS = {"chebnet2d": [{"rank": 2}, {"scaling": "paper"}], "gnn-lf": [{"form": "closed"}], "gnn-hf": [{"form": "closed"}]}
SETTINGS["chebnetii"] = [{"layout": layout, "batch_norm": layout == "between"} for layout in ("hidden", "first", "between")]
SETTINGS["jacobiconv"] = [{"basis": basis} for basis in ("legendre", "chebyshev", "monomial", "bernstein")]
SETTINGS["specgn"] = [{"operator": "rho", "epsilon": 0.25}, {"epsilon": -0.25}]
SETTINGS["dsgc"] = [{"rows": "lp", "columns": "lazy"}, {"rows": "none"}]
SETTINGS["one-filter"] = [{"coupling": coupling} for coupling in ("I", "II", "III", "rank")]
SETTINGS["one-filter"] += [{"coupling": "III", "place": "hidden"}, {"parametrisation": "coefficients"}]
SETTINGS["optbasis"] = [{"coefficients": "shared"}]
SETTINGS["boosting"] = SETTINGS["logistic"] = [{"inputs": "features"}, {"inputs": "labels"}, {"columns": 8}]
_DEEP = {"num_layers": 3, "residual": True, "pre_linear": True}
SETTINGS["tuned-gcn"] = SETTINGS["tuned-sage"] = [
    {"norm": "batch", "jumping": "cat", **_DEEP},
    {"norm": "layer", "jumping": "max", **_DEEP},
]
SETTINGS["chebnet2d-plus"] = [{"rows": False, "norm": "batch"}, {"labels": False}]
WITHOUT_WEIGHTS = {
    "boosting-features": "does not look at the graph",
    "logistic-features": "does not look at the graph",
    "majority": "looks at labels alone",
    "mlp": "does not look at the graph",
    "nodeformer": "uses which edges there are",
    "dsgc-none": "does not look at the graph",
}
WITHOUT_FEATURES = ("majority",)  # it is chance


def cases() -> list:
    """Every model with its defaults, in its unified variant where there is one, and with settings that take other paths."""
    found = []
    for name in OURS:
        options = [{}, *SETTINGS.get(name, [])]
        if "variant" in inspect.signature(MODELS[name]).parameters:
            options.append({"variant": "unified"})
        found += [pytest.param(name, o, id="-".join([name, *map(str, o.values())])) for o in options]
    return found


every_model = pytest.mark.parametrize(("name", "options"), cases())


@every_model
def test_keeps_the_promises_of_a_method(name, options):
    assert len(check_method(name, **options)) >= 16


@every_model
def test_edge_weights_are_heard(name, options):
    subject = _Subject(MODELS[name], options)
    model = subject.exact()
    low, high = subject.data.edge_index.sort(dim=0).values
    weights = 0.5 + ((7 * low + 13 * high) % 10).double() / 10  # the same in both directions
    heard = not torch.allclose(subject.logits(model, weight=weights), subject.logits(model), atol=1e-6)
    assert heard == (name not in WITHOUT_WEIGHTS and "-".join([name, *map(str, options.values())]) not in WITHOUT_WEIGHTS)


@every_model
def test_learns_more_than_chance(name, options):
    subject = _Subject(MODELS[name], options)
    split = chebnet2d.data.split(subject.data, "uniform", seed=0)
    model = subject.make(**({"hidden_channels": 16} if "hidden_channels" in subject.known else {}))
    result = chebnet2d.fit(model, subject.data, split, seed=0, epochs=40, lr=0.03, weight_decay=1e-4)
    assert result.test["accuracy"] > 0.55 or name in WITHOUT_FEATURES, "chance is 1 / 3"


def test_runs_of_a_stack_agree_in_what_is_no_buffer():
    keys = {models.ChebNetII(24, 3, relu=relu).stack_key for relu in (True, False)}
    assert len(keys) == 2
    subject = _Subject(models.ChebNetII)
    split = chebnet2d.data.split(subject.data, "uniform", seed=0)
    runs = [Run(subject.make(relu=relu), split) for relu in (True, False)]
    assert [result.model.config["relu"] for result in fit_many(runs, subject.data)] == [True, False]

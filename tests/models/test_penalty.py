"""A model that returns (logits, penalty) in evaluation too works wherever models do."""

import pytest
import torch

import chebnet2d
from chebnet2d.bases import precompute
from chebnet2d.models import FilterFirst
from chebnet2d.plots import PLOTS
from chebnet2d.predictions import predict
from chebnet2d.training import Batches, Run, Settings, fit, fit_many


def penalty_of(model):
    return 0.1 * sum(parameter.square().sum() for parameter in model.conv.parameters())


class Penalised(chebnet2d.ChebNet2D):
    def forward(self, x, edge_index, edge_weight=None):
        return super().forward(x, edge_index, edge_weight), penalty_of(self)


class PenalisedOnBases(FilterFirst):
    def forward(self, terms):
        return super().forward(terms), penalty_of(self)


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=90, classes=3, features=8, seed=0)


@pytest.mark.parametrize("batches", [None, Batches(40), Batches(40, evaluation="parts")])
def test_on_a_graph(data, batches):
    model, plain = (kind(8, 3, degree=2, hidden_channels=4) for kind in (Penalised, chebnet2d.ChebNet2D))
    split = chebnet2d.data.split(data, "uniform", seed=0)
    result = fit(model, data, split, batches=batches, epochs=5)
    assert 0 <= result.test["accuracy"] <= 1
    plain.load_state_dict(model.state_dict())
    ours, theirs = model.predict(data), plain.predict(data)
    assert torch.equal(ours.probabilities, theirs.probabilities)
    assert predict(model, data).num_rows == 90
    for draw in PLOTS.values():
        draw(model)


def test_in_a_stack(data):
    splits = [chebnet2d.data.split(data, "uniform", seed=seed) for seed in range(2)]
    settings = Settings.of(epochs=5)
    runs = [Run(Penalised(8, 3, degree=2, hidden_channels=4), split, seed, settings) for seed, split in enumerate(splits)]
    assert len(fit_many(runs, data, width=2)) == 2


def test_on_bases(data, tmp_path):
    bases = precompute(data, out=tmp_path / "b", degree=2)
    model = PenalisedOnBases("chebnet2d", 8, 3, degree=2, hidden_channels=4)
    split = chebnet2d.data.split(data, "uniform", seed=0)
    result = fit(model, bases, split, batches=40, epochs=5)
    assert 0 <= result.test["accuracy"] <= 1
    assert model.predict(bases).labels.shape == (90,)

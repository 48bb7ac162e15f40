"""Ctrl-C in the middle of a training: the best state so far is in the model."""

import pytest
import torch

import chebnet2d
from chebnet2d.training import Batches, Interrupted, Run, fit, fit_many


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=90, classes=3, features=8, seed=0)


def interrupted_at(epoch):
    def progress(now):
        if now.epoch == epoch:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("batches", [None, Batches(40)])
def test_the_best_state_is_restored(data, batches):
    split = chebnet2d.data.split(data, "uniform", seed=0)
    models = [chebnet2d.ChebNet2D(8, 3, degree=2, hidden_channels=4) for _ in range(2)]
    with pytest.raises(Interrupted) as caught:
        fit(models[0], data, split, 3, batches=batches, epochs=50, progress=interrupted_at(7))
    whole = fit(models[1], data, split, 3, batches=batches, epochs=7)
    result = caught.value.result
    assert isinstance(caught.value, KeyboardInterrupt)
    assert (result.best_epoch, result.epochs, result.val_metric) == (whole.best_epoch, 7, whole.val_metric)
    assert result.test == {}, "nobody asked for the test nodes"
    assert not models[0].training
    for ours, theirs in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=0, rtol=0)


def test_several_runs(data):
    runs = [Run(chebnet2d.ChebNet2D(8, 3, degree=2), chebnet2d.data.split(data, "uniform", seed=s), s) for s in range(3)]
    with pytest.raises(KeyboardInterrupt):
        fit_many(runs, data, width=3, progress=interrupted_at(4))
    alone = [Run(chebnet2d.ChebNet2D(8, 3, degree=2), run.split, run.seed, run.settings) for run in runs]
    whole = fit_many([Run(r.model, r.split, r.seed, chebnet2d.training.Settings.of(epochs=4)) for r in alone], data, width=3)
    for run, result in zip(runs, whole, strict=True):
        for ours, theirs in zip(run.model.parameters(), result.model.parameters(), strict=True):
            torch.testing.assert_close(ours, theirs)


def test_before_the_first_look_there_is_no_best_state(data):
    class Stopped(chebnet2d.ChebNet2D):
        def forward(self, *_):
            raise KeyboardInterrupt

    split = chebnet2d.data.split(data, "uniform", seed=0)
    with pytest.raises(KeyboardInterrupt) as caught:
        fit(Stopped(8, 3), data, split)
    assert not isinstance(caught.value, Interrupted)

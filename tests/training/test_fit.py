"""Fitting one model: seeds, early stopping, test labels, progress and devices."""

import copy

import pytest
import torch

import chebnet2d
from chebnet2d.training import Run, Settings, fit_many
from small_runs import model
from uniform_split import split


def test_same_seed_same_result(data):
    results = [chebnet2d.fit(model(data), data, split(data), seed=3, epochs=25) for _ in range(2)]
    assert results[0].history == results[1].history
    assert results[0].test["accuracy"] == results[1].test["accuracy"]
    assert chebnet2d.fit(model(data), data, split(data), seed=4, epochs=25).history != results[0].history


def test_going_on_from_the_parameters_at_hand(data):
    trained = model(data)
    first = chebnet2d.fit(trained, data, split(data), seed=0, epochs=60)
    second = chebnet2d.fit(trained, data, split(data), seed=0, epochs=1, initialise=False)
    assert second.history.train_loss[0] < first.history.train_loss[0] / 2


def test_early_stopping_and_the_restored_state(data):
    fitted = model(data)
    result = chebnet2d.fit(fitted, data, split(data), seed=0, patience=10, epochs=500, lr=0.05)
    assert result.epochs < 500
    assert result.epochs == result.best_epoch + 10
    assert result.val_metric == max(result.history.val_metric)
    predicted = fitted.predict(data)
    val, test = split(data).val, split(data).test
    assert float((predicted.labels[val] == data.y[val]).double().mean()) == pytest.approx(result.val_metric)
    assert float((predicted.labels[test] == data.y[test]).double().mean()) == pytest.approx(result.test["accuracy"])
    assert result.test_metric == result.test["accuracy"]
    by_loss = chebnet2d.fit(fitted, data, split(data), seed=0, patience=10, epochs=500, lr=0.05, monitor="loss")
    assert by_loss.val_loss == min(by_loss.history.val_loss)


def test_test_labels_do_not_matter_for_training(data):
    """Validation selects: with other test labels everything but the test score is the same."""
    other = copy.copy(data)
    other.y = data.y.clone()
    other.y[split(data).test] = (other.y[split(data).test] + 1) % 3
    a = chebnet2d.fit(model(data), data, split(data), seed=1, epochs=30)
    b = chebnet2d.fit(model(data), other, split(data), seed=1, epochs=30)
    assert a.history == b.history
    assert a.test["accuracy"] != b.test["accuracy"]


def test_without_test_scores(data):
    result = fit_many([Run(model(data), split(data), 0, Settings.of(epochs=3))], data, test=False)[0]
    assert result.test == {}
    assert result.test_metric is None
    assert result.test_metric is None


def test_progress_is_reported(data):
    seen = []
    chebnet2d.fit(model(data), data, split(data), epochs=4, progress=seen.append)
    assert [p.epoch for p in seen] == [1, 2, 3, 4]
    assert seen[-1].active == 0


def test_the_device_is_asked_for_or_the_models_own():
    data = chebnet2d.data.load("csbm")
    split = chebnet2d.data.split(data, "uniform", seed=0)

    def trained(**options):
        model = chebnet2d.ChebNet2D(data.num_features, chebnet2d.data.num_classes(data), hidden_channels=8, degree=3)
        return chebnet2d.fit(model, data, split, seed=1, epochs=3, **options)

    assert trained().val_loss == trained(device="cpu").val_loss == trained(device=torch.device("cpu")).val_loss
    with pytest.raises(chebnet2d.InputError, match="device must be 'cpu', 'cuda' or 'cuda:N', got 'gpu'"):
        trained(device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(chebnet2d.InputError, match="device must be one that this machine has, got 'cuda' and no CUDA device"):
            trained(device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("batches", [{}, {"batch_size": 200, "sampling": "induced"}])
def test_a_gpu_gives_the_same_up_to_rounding(batches):
    data = chebnet2d.data.load("csbm")
    split = chebnet2d.data.split(data, "uniform", seed=0)
    fit = chebnet2d.training.fit_on_nodes if batches else chebnet2d.fit
    losses = {}
    for device in ("cpu", "cuda"):
        model = chebnet2d.models.GCN(data.num_features, chebnet2d.data.num_classes(data))
        result = fit(model, data, split, seed=1, epochs=5, device=device, **batches)
        assert next(result.model.parameters()).device.type == device
        losses[device] = result.val_loss
    assert losses["cuda"] == pytest.approx(losses["cpu"], rel=1e-3)

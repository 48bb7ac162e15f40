"""Metrics against torch and scikit-learn."""

import math

import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from torch import nn

import chebnet2d
from chebnet2d.training.batches import Batch
from chebnet2d.training.early_stopping import EarlyStopping
from chebnet2d.training.loss import negative_log_likelihood, node_weights
from chebnet2d.training.metrics import METRICS, Meter, SumMetric, find_metric, register_metric
from uniform_split import split


def test_roc_auc_runs_use_it_for_selection():
    data = chebnet2d.data.load("csbm", nodes=150, classes=2, features=10, homophily=0.8, seed=1)
    data.metric = "roc_auc"
    fitted = chebnet2d.ChebNet2D(10, 2, hidden_channels=8, degree=3)
    result = chebnet2d.fit(fitted, data, split(data), seed=0, epochs=40)
    prediction = fitted.predict(data)
    for part, score in ((split(data).val, result.val_metric), (split(data).test, result.test["roc_auc"])):
        assert roc_auc_score(data.y[part], prediction.probabilities[part, 1]) == pytest.approx(score, abs=1e-6)
    assert result.metric == "roc_auc"
    assert result.test_metric == result.test["roc_auc"]


def metered(logits, batches, names=("accuracy", "roc_auc")):
    meter = Meter([find_metric(name) for name in names])
    for nodes, batch in batches:
        meter.add(logits[:, nodes], batch)
    return meter.losses(), meter.scores()


def test_every_run_counts_its_own_nodes():
    logits, y = torch.randn(3, 20, 2, dtype=torch.float64), torch.arange(20) % 2
    logits[0, :5] = logits[0, 5:10]  # ties
    nodes = [torch.randperm(20)[:k] for k in (8, 12, 20)]
    weights = node_weights(nodes, 20, logits)
    losses, scores = metered(logits, [(slice(None), Batch((), y, weights))])
    for r, part in enumerate(nodes):
        expected = nn.functional.cross_entropy(logits[r, part], y[part])
        torch.testing.assert_close((negative_log_likelihood(logits, y) * weights).sum(1)[r], expected)
        assert losses[r] == pytest.approx(float(expected))
        assert scores["accuracy"][r] == pytest.approx(float((logits[r, part].argmax(1) == y[part]).double().mean()))
        margin = logits[r, part, 1] - logits[r, part, 0]
        expected = roc_auc_score(y[part], margin) if len(set(y[part].tolist())) == 2 else math.nan
        assert scores["roc_auc"][r] == pytest.approx(expected, nan_ok=True)


def test_batches_add_up_and_rows_without_a_label_do_not_count():
    logits, y = torch.randn(2, 30, 2, dtype=torch.float64), torch.arange(30) % 2
    y[::5] = -1
    counts = y >= 0
    parts = [(part, Batch((), y[part])) for part in torch.randperm(30).split(7)]
    losses, scores = metered(logits, parts)
    for r in range(2):
        assert losses[r] == pytest.approx(float(nn.functional.cross_entropy(logits[r, counts], y[counts])))
        assert scores["accuracy"][r] == float((logits[r, counts].argmax(1) == y[counts]).double().mean())
        assert scores["roc_auc"][r] == pytest.approx(roc_auc_score(y[counts], (logits[r, counts, 1] - logits[r, counts, 0])))


def test_one_class_alone_has_no_curve():
    _, scores = metered(torch.randn(1, 4, 2), [(slice(None), Batch((), torch.zeros(4, dtype=torch.long)))])
    assert math.isnan(scores["roc_auc"][0])


def balanced_accuracies(logits, batches):
    return metered(logits, batches, ["balanced_accuracy"])[1]["balanced_accuracy"]


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
class TestBalancedAccuracy:
    """Four classes of unequal size; the fourth is predicted, but has no nodes."""

    logits = torch.randn(3, 40, 4, generator=torch.Generator().manual_seed(0))
    y = torch.tensor([0] * 24 + [1] * 12 + [2] * 4)

    def expected(self, run, nodes):
        return pytest.approx(balanced_accuracy_score(self.y[nodes], self.logits[run, nodes].argmax(dim=1)), abs=1e-12)

    def test_every_run_counts_its_own_nodes(self):
        parts = [torch.arange(30), torch.arange(1, 40, 3), torch.arange(40)]  # the first has no node of class 2
        y = torch.cat([self.y, torch.tensor([-1, -1])])  # no run counts the last two
        logits = torch.cat([self.logits, torch.randn(3, 2, 4)], dim=1)
        found = balanced_accuracies(logits, [(slice(None), Batch((), y, node_weights(parts, 42, logits)))])
        for run, part in enumerate(parts):
            assert found[run] == self.expected(run, part)

    def test_batches_add_up(self):
        y = self.y.clone()
        y[::5] = -1
        parts = [(part, Batch((), y[part])) for part in torch.arange(40).split(7)]  # most batches have one class alone
        found = balanced_accuracies(self.logits, parts)
        for run in range(3):
            assert found[run] == self.expected(run, y >= 0)

    def test_every_training_reports_it(self):
        data = chebnet2d.data.load("csbm", nodes=150, classes=3, features=10, homophily=0.8, seed=1)
        fitted = chebnet2d.ChebNet2D(10, 3, hidden_channels=8, degree=3)
        result = chebnet2d.fit(fitted, data, split(data), seed=0, epochs=5)
        test = split(data).test
        expected = balanced_accuracy_score(data.y[test], fitted.predict(data).labels[test])
        assert result.test["balanced_accuracy"] == pytest.approx(expected)


class ShareOfClassOne(SumMetric):
    """How often class 1 is predicted: a metric of a user's own."""

    def sums(self, logits, y, weights):
        chosen = (logits.argmax(dim=-1) == 1).double()
        return (chosen if weights is None else chosen * weights).sum(dim=-1, keepdim=True)

    def value(self, sums, weight):
        return sums[:, 0] / weight


def test_a_metric_of_ones_own_selects_and_is_reported(monkeypatch):
    monkeypatch.setattr(METRICS, "_known", dict(METRICS))
    register_metric("share_of_class_one")(ShareOfClassOne)
    data = chebnet2d.data.load("csbm", nodes=150, classes=2, features=10, homophily=0.8, seed=1)
    data.metric = "share_of_class_one"
    fitted = chebnet2d.ChebNet2D(10, 2, hidden_channels=8, degree=3)
    result = chebnet2d.fit(fitted, data, split(data), seed=0, epochs=10)
    labels = fitted.predict(data).labels
    for part, score in ((split(data).val, result.val_metric), (split(data).test, result.test_metric)):
        assert float((labels[part] == 1).double().mean()) == pytest.approx(score, abs=1e-6)
    assert result.val_metric == max(result.history.val_metric)
    assert set(result.test) >= {"accuracy", "roc_auc", "share_of_class_one"}
    with pytest.raises(chebnet2d.InputError, match="name must be new, got 'share_of_class_one'"):
        register_metric("share_of_class_one")(ShareOfClassOne)
    with pytest.raises(chebnet2d.InputError, match="name must be one of .* got 'acuracy'. Did you mean 'accuracy'"):
        find_metric("acuracy")


class TestAccuracyIsExact:
    """A count divided by a count, whatever the order of the nodes and the type of the weights."""

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    @pytest.mark.parametrize("size", [7, 49, 542, 999])
    def test_equal_counts_are_equal_numbers(self, size, dtype):
        y = torch.zeros(2000, dtype=torch.long)
        generator = torch.Generator().manual_seed(size)
        part = torch.randperm(2000, generator=generator)[:size]
        weights = node_weights([part] * 8, 2000, torch.zeros(1, dtype=dtype))
        right = size // 3
        logits = torch.zeros(8, 2000, 2, dtype=dtype)
        logits[..., 1] = 1.0
        for run in range(8):  # other nodes are right in every run, but equally many
            logits[run, part[torch.randperm(size, generator=generator)[:right]], 0] = 2.0
        _, scores = metered(logits, [(slice(None), Batch((), y, weights))], ["accuracy"])
        assert scores["accuracy"] == [right / size] * 8

    def test_two_epochs_with_equal_counts_are_a_tie_that_the_loss_decides(self):
        """Epoch 2 is right on other nodes than epoch 1, on equally many, with a lower loss; epoch 3 with a higher one."""
        y = torch.zeros(1500, dtype=torch.long)
        part = torch.arange(0, 1500, 2)
        weights = node_weights([part], 1500, torch.zeros(1))
        run = chebnet2d.training.Run(nn.Linear(1, 1), None, 0, chebnet2d.training.Settings.of(monitor="accuracy"))
        stopper = EarlyStopping(run)
        for epoch, (nodes, margin, best) in enumerate(
            [(part[:333], 1.0, 1), (part[100:433], 1.1, 2), (part[400:733], 0.9, 2), (part[200:533], 1.2, 4)], start=1
        ):
            logits = torch.zeros(1, 1500, 2)
            logits[:, :, 1] = 0.5
            logits[:, nodes, 0] = 0.5 + margin
            losses, scores = metered(logits, [(slice(None), Batch((), y, weights))], ["accuracy"])
            stopper.update(epoch, 0.0, losses[0], scores["accuracy"][0], dict)
            assert stopper.best_epoch == best

"""Metrics against torch and scikit-learn."""

import math

import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from torch import nn

import chebnet2d
from chebnet2d.training.batches import Batch
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

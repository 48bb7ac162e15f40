"""Metrics against torch and scikit-learn."""

import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

import chebnet2d
from chebnet2d.training.metrics import negative_log_likelihood, node_weights, roc_auc, weighted_accuracy
from uniform_split import split


def test_roc_auc_runs_use_it_for_selection():
    data = chebnet2d.data.load("csbm", nodes=150, classes=2, features=10, homophily=0.8, seed=1)
    data.metric = "roc_auc"
    fitted = chebnet2d.ChebNet2D(10, 2, hidden_channels=8, degree=3)
    result = chebnet2d.fit(fitted, data, split(data), seed=0, epochs=40)
    prediction = fitted.predict(data)
    for part, score in ((split(data).val, result.val_metric), (split(data).test, result.test_roc_auc)):
        assert roc_auc_score(data.y[part], prediction.probabilities[part, 1]) == pytest.approx(score, abs=1e-6)
    assert result.metric == "roc_auc"
    assert result.test_metric == result.test_roc_auc


def test_metrics_against_torch_and_sklearn():
    logits, y = torch.randn(3, 20, 2, dtype=torch.float64), torch.randint(0, 2, (20,))
    logits[0, :5] = logits[0, 5:10]  # ties
    nodes = [torch.randperm(20)[:k] for k in (8, 12, 20)]
    weights = node_weights(nodes, 20, logits)
    for r, part in enumerate(nodes):
        expected = nn.functional.cross_entropy(logits[r, part], y[part])
        torch.testing.assert_close((negative_log_likelihood(logits, y) * weights).sum(1)[r], expected)
        right = (logits[r, part].argmax(1) == y[part]).double().mean()
        torch.testing.assert_close(weighted_accuracy(logits, y, weights)[r], right)
        score = logits[r, part, 1] - logits[r, part, 0]
        assert roc_auc(logits[r], y, part) == pytest.approx(roc_auc_score(y[part], score))
    assert roc_auc(logits[0], torch.zeros(20, dtype=torch.long), nodes[0]) != roc_auc(logits[0], y, nodes[0])

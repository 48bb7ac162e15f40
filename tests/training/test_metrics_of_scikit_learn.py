"""Metrics, weights of classes and the report per class against scikit-learn."""

import numpy as np
import pytest
import sklearn.metrics as theirs
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_class_weight

import chebnet2d
from chebnet2d import InputError
from chebnet2d.training import Report, Run, Settings, fit_many
from chebnet2d.training.batches import Batch
from chebnet2d.training.loss import class_weights
from chebnet2d.training.metrics import METRICS, Meter
from chebnet2d.training.tasks.full_graph import weights_of_classes
from chebnet2d.training.threshold import choose_threshold, with_threshold

ORACLES = {
    "accuracy": lambda y, p: theirs.accuracy_score(y, p.argmax(1)),
    "balanced_accuracy": lambda y, p: theirs.recall_score(y, p.argmax(1), labels=np.unique(y), average="macro", zero_division=0),
    "f1_macro": lambda y, p: theirs.f1_score(y, p.argmax(1), average="macro", zero_division=0),
    "f1": lambda y, p: theirs.f1_score(y, p.argmax(1), zero_division=0),
    "roc_auc": lambda y, p: theirs.roc_auc_score(y, p[:, 1]),
    "roc_auc_ovr": lambda y, p: np.mean([theirs.roc_auc_score(y == c, p[:, c]) for c in np.unique(y)]),
    "average_precision": lambda y, p: theirs.average_precision_score(y, p[:, 1]),
    "neg_log_loss": lambda y, p: -theirs.log_loss(y, p, labels=range(p.shape[1])),
}


@st.composite
def answers(draw, most=4):
    classes = draw(st.integers(2, most))
    y = draw(st.lists(st.integers(0, classes - 1), min_size=4, max_size=40).filter(lambda y: len(set(y)) > 1))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    logits = torch.randn(len(y), classes, generator=generator, dtype=torch.float64)
    return torch.tensor(y), logits.round(decimals=draw(st.integers(0, 6)))  # few digits make ties


def test_every_metric_of_the_package_has_an_oracle():
    assert {name for name, metric in METRICS.items() if type(metric).__module__.startswith("chebnet2d.")} == set(ORACLES)


@pytest.mark.parametrize("name", ORACLES)
@given(case=answers())
@settings(max_examples=60, deadline=None)
def test_metrics(name, case):
    y, logits = case
    metric, classes = METRICS[name], logits.shape[1]
    if not metric.applies(classes):
        return
    meter = Meter([metric])
    meter.add(logits.unsqueeze(0), Batch((), y))
    expected = ORACLES[name](y.numpy(), logits.softmax(dim=1).numpy())
    assert meter.scores()[name][0] == pytest.approx(expected, abs=1e-9)


@given(y=st.lists(st.integers(0, 4), min_size=1, max_size=50))
@settings(max_examples=60, deadline=None)
def test_balanced_weights(y):
    expected = np.zeros(5)
    expected[np.unique(y)] = compute_class_weight("balanced", classes=np.unique(y), y=np.array(y))
    found = class_weights(torch.tensor(y), 5)
    np.testing.assert_allclose(found.numpy(), expected)
    assert float(found[torch.tensor(y)].mean()) == pytest.approx(1)


@given(case=answers(), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_the_report_per_class(case, seed):
    y, logits = case
    labels = torch.randint(0, logits.shape[1], y.shape, generator=torch.Generator().manual_seed(seed))
    report = Report.of(labels, logits.softmax(dim=1), y)
    classes = range(logits.shape[1])
    precision, recall, f1, support = theirs.precision_recall_fscore_support(y, labels, labels=classes, zero_division=0)
    for row, *values in zip(report.rows(), precision, recall, f1, support, strict=True):
        assert [row[name] for name in ("precision", "recall", "f1", "support")] == pytest.approx(values)
    np.testing.assert_array_equal(report.confusion, theirs.confusion_matrix(y, labels, labels=classes))
    assert report.scores["accuracy"] == pytest.approx(theirs.accuracy_score(y, labels))
    assert report.scores["f1_macro"] == pytest.approx(theirs.f1_score(y, labels, average="macro", zero_division=0))
    assert report.scores["neg_log_loss"] == pytest.approx(-theirs.log_loss(y, logits.softmax(dim=1), labels=list(classes)))
    assert report.majority == pytest.approx(max(y.tolist().count(c) for c in classes) / len(y))


@pytest.mark.parametrize("metric", ["f1", "f1_macro", "balanced_accuracy", "roc_auc", "average_precision"])
@given(case=answers(most=2))
@settings(max_examples=40, deadline=None)
def test_no_other_threshold_is_better(metric, case):
    y, logits = case
    judged = metric if METRICS[metric].labels else "f1_macro"
    chances = logits.softmax(dim=1)[:, 1].numpy()

    def score(threshold):
        above = chances > 0.5 if threshold is None else chances >= threshold
        return ORACLES[judged](y.numpy(), np.eye(2)[above.astype(int)])

    chosen = choose_threshold(logits, y, metric)
    others = [score(t) for t in [None, *((np.unique(chances)[1:] + np.unique(chances)[:-1]) / 2)]]
    assert score(chosen) == pytest.approx(max(others))


def test_accuracy_and_many_classes_have_no_threshold():
    logits = torch.tensor([[3.0, 0], [2, 0], [1, 0]])
    assert choose_threshold(logits, torch.tensor([0, 1, 1]), "accuracy") is None
    assert choose_threshold(torch.randn(4, 3), torch.tensor([0, 1, 2, 0]), "f1_macro") is None
    chosen = choose_threshold(logits, torch.tensor([0, 1, 1]), "f1")
    assert chosen is not None
    shifted = with_threshold(logits.unsqueeze(0), torch.tensor([chosen]))[0]
    assert torch.equal(shifted.argmax(dim=1), (logits.softmax(dim=1)[:, 1] >= chosen).long())


@pytest.fixture(scope="module")
def data():
    data = chebnet2d.data.load("csbm", nodes=300, classes=2, features=6, homophily=0.7, seed=0)
    rare = (data.y == 1).nonzero().squeeze(1)[20:]
    keep = torch.ones(300, dtype=torch.bool)
    keep[rare] = False
    data.y = torch.where(keep, data.y, -1)
    return data


def test_weights_find_the_rare_class(data):
    split = chebnet2d.data.split(data, "stratified")
    found = {}
    for weight in ("none", "balanced"):
        model = chebnet2d.ChebNet2D(6, 2, hidden_channels=8, degree=2)
        chebnet2d.fit(model, data, split, epochs=40, metric="balanced_accuracy", class_weight=weight)
        found[weight] = model.predict(data).labels.float().mean()
    assert found["balanced"] > found["none"]


def test_runs_of_one_stack_may_weigh_differently(data):
    split = chebnet2d.data.split(data, "stratified")
    models = [chebnet2d.ChebNet2D(6, 2, hidden_channels=8, degree=2) for _ in range(2)]
    weights = [Settings(epochs=6, class_weight=weight) for weight in ("none", "balanced")]
    runs = [Run(model, split, 0, settings) for model, settings in zip(models, weights, strict=True)]
    together = fit_many(runs, data)
    for weight, result in zip(("none", "balanced"), together, strict=True):
        alone = chebnet2d.fit(chebnet2d.ChebNet2D(6, 2, hidden_channels=8, degree=2), data, split, epochs=6, class_weight=weight)
        assert result.history.train_loss == pytest.approx(alone.history.train_loss, rel=1e-4)
    assert weights_of_classes(runs, data.y, torch.zeros(1)).shape == (2, 2)


def test_a_batch_of_all_nodes_is_the_whole_graph(data):
    split = chebnet2d.data.split(data, "stratified")
    settings = {"epochs": 5, "class_weight": "balanced", "metric": "f1_macro"}
    whole = chebnet2d.fit(chebnet2d.models.GCN(6, 2, dropout=0.0), data, split, **settings)
    batch = chebnet2d.fit(chebnet2d.models.GCN(6, 2, dropout=0.0), data, split, batches=300, **settings)
    assert batch.metric == whole.metric == "f1_macro"
    assert batch.history.train_loss == pytest.approx(whole.history.train_loss, rel=1e-3)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"metric": "f2"}, "fit: metric must be one of .* got 'f2'"),
        ({"class_weight": "heavy"}, "class_weight must be one of 'none', 'balanced', got 'heavy'"),
    ],
)
def test_wrong_settings(data, settings, sentence):
    with pytest.raises(InputError, match=sentence):
        chebnet2d.fit(chebnet2d.ChebNet2D(6, 2), data, chebnet2d.data.split(data, "stratified"), epochs=1, **settings)
    three = chebnet2d.data.load("csbm", nodes=60, classes=3, features=4, homophily=0.7, seed=0)
    with pytest.raises(InputError, match="fit: metric must be defined for 3 classes, got 'roc_auc'. These are: 'accuracy'"):
        chebnet2d.fit(chebnet2d.ChebNet2D(4, 3), three, chebnet2d.data.split(three), epochs=1, metric="roc_auc")

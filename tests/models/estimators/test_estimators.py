"""Boosting, logistic regression and majority: scikit-learn's numbers by other code, and validation that only selects."""

import numpy as np
import pytest
import torch
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import chebnet2d
from chebnet2d import InputError
from chebnet2d.models.estimators.boosting import Boosting
from chebnet2d.models.estimators.logistic import Logistic
from chebnet2d.models.estimators.majority import Majority
from chebnet2d.recipes import Recipe
from chebnet2d.training import Run, Settings, fit_many
from chebnet2d.training.tasks.full_graph import labels_of


@pytest.fixture(scope="module", params=[2, 4])
def data(request):
    return chebnet2d.data.csbm(240, request.param, 12, degree=6, signal=1.5, seed=4)


def uniform(data, seed=0):
    return chebnet2d.data.split(data, "uniform", seed=seed)


def seen(model, data):
    return model.inputs(data.x, data.edge_index)


@pytest.mark.parametrize("inputs", ["features", "neighbours", "labels"])
def test_boosting_is_scikit_learns_at_the_iteration_that_validation_chose(data, inputs):
    part, classes = uniform(data), chebnet2d.data.num_classes(data)
    model = Boosting(12, classes, inputs=inputs, max_features=0.5)
    result = chebnet2d.fit(model, data, part, seed=3, epochs=40, patience=15)
    rows = seen(model, data)
    options = {"early_stopping": False, "random_state": 3, "max_bins": 63, "max_features": 0.5}
    reference = HistGradientBoostingClassifier(**options, max_iter=result.epochs).fit(rows[part.train], data.y[part.train])
    staged = list(reference.staged_predict_proba(rows))
    scores = [float((one.argmax(1) == data.y.numpy())[part.val].mean()) for one in staged]
    np.testing.assert_allclose(result.history.val_metric, scores)
    assert result.val_metric == pytest.approx(max(scores))
    assert len(model.forest.roots) == result.best_epoch
    found = model.predict(data).probabilities.numpy()
    np.testing.assert_allclose(found, staged[result.best_epoch - 1], atol=1e-6)
    labels = torch.from_numpy(staged[result.best_epoch - 1].argmax(1))
    assert result.test["accuracy"] == pytest.approx(float((labels == data.y)[part.test].double().mean()))


def test_trees_are_scikit_learns_to_the_last_digits(data):
    model = Boosting(12, chebnet2d.data.num_classes(data))
    part = uniform(data)
    chebnet2d.fit(model, data, part, seed=0, epochs=30, patience=30)
    stages = len(model.forest.roots)
    rows = seen(model, data)
    reference = HistGradientBoostingClassifier(early_stopping=False, random_state=0, max_bins=63, max_iter=stages)
    reference.fit(rows[part.train], data.y[part.train])
    raw = reference.decision_function(rows).reshape(len(rows), -1)
    np.testing.assert_allclose(model.base.numpy()[model.targets.numpy()] + model.forest(rows), raw, atol=1e-12)


def test_logistic_is_scikit_learns_on_scaled_columns(data):
    part, classes = uniform(data), chebnet2d.data.num_classes(data)
    model = Logistic(12, classes, inputs="labels", C=0.5)
    result = chebnet2d.fit(model, data, part)
    assert (result.epochs, result.best_epoch) == (1, 1)
    rows = seen(model, data).astype(np.float64)
    reference = make_pipeline(StandardScaler(), LogisticRegression(C=0.5, max_iter=2000)).fit(
        rows[part.train], data.y[part.train]
    )
    np.testing.assert_allclose(model.predict(data).probabilities.numpy(), reference.predict_proba(rows), atol=1e-5)


def test_majority_is_scikit_learns_most_frequent_class(data):
    part = uniform(data)
    model = Majority(12, chebnet2d.data.num_classes(data))
    result = chebnet2d.fit(model, data, part)
    dummy = DummyClassifier(strategy="most_frequent").fit(data.x[part.train], data.y[part.train])
    assert result.test["accuracy"] == pytest.approx(dummy.score(data.x[part.test], data.y[part.test]))
    counts = torch.bincount(data.y[part.train]).double() + 1
    torch.testing.assert_close(model.predict(data).probabilities[0].double(), counts / counts.sum())


@pytest.mark.parametrize("kind", [Boosting, Logistic, Majority])
def test_labels_of_validation_and_test_nodes_do_not_enter_the_fit(data, kind):
    """With all of them changed, each stage learns the same; only which stage is best may differ."""
    part, classes = uniform(data), chebnet2d.data.num_classes(data)
    options = {} if kind is Majority else {"inputs": "labels"}
    models = [kind(12, classes, **options) for _ in range(2)]
    other = data.clone()
    hidden = torch.cat([part.val, part.test])
    other.y[hidden] = (data.y[hidden] + 1) % classes
    for model, graph in zip(models, (data, other), strict=True):
        fitting = model.stages(data.x, data.edge_index, None, labels_of(graph.y, part.train), 0)
        for _ in range(12 if kind is Boosting else 1):
            next(fitting)
    assert models[0].state_dict().keys() == models[1].state_dict().keys()
    for name, value in models[0].state_dict().items():
        assert torch.equal(value, models[1].state_dict()[name]), name
    by_training = [chebnet2d.fit(model, graph, part, epochs=12) for model, graph in zip(models, (data, other), strict=True)]
    assert by_training[0].history.train_loss == by_training[1].history.train_loss


def test_runs_with_their_own_splits_are_fitted_one_by_one(data):
    classes = chebnet2d.data.num_classes(data)

    def runs():
        return [Run(Boosting(12, classes), uniform(data, seed), seed, Settings(epochs=12)) for seed in range(3)]

    together = fit_many(runs(), data)
    alone = [fit_many([run], data)[0] for run in runs()]
    assert [result.history for result in together] == [result.history for result in alone]


def test_a_class_that_no_training_node_has_is_never_predicted():
    data = chebnet2d.data.csbm(120, 3, 6, seed=0)
    part = uniform(data)
    part.train[...] = part.train[data.y[part.train] != 1][torch.arange(part.train.numel()) % 30]
    for model in (Boosting(6, 3), Logistic(6, 3)):
        result = chebnet2d.fit(model, data, part, epochs=3)
        found = model.predict(data)
        assert 1 not in found.labels
        assert np.isfinite(result.val_loss)
    part.train[...] = part.train[data.y[part.train] == 0][0]
    with pytest.raises(InputError, match="split.train must hold nodes of two classes at least, got 1"):
        chebnet2d.fit(Boosting(6, 3), data, part, epochs=3)


def test_nothing_else_trains_them_and_they_train_nothing_else(data):
    part, model = uniform(data), Logistic(12, 4)
    with pytest.raises(InputError, match="fit: the model must be trained on such data, got Logistic"):
        chebnet2d.fit(model, data, part, batches=20)
    with pytest.raises(InputError, match="runs must be of methods that are trained in one way, got estimator and gradient"):
        fit_many([Run(model, part), Run(chebnet2d.ChebNet2D(12, 4), part)], data)


@pytest.mark.parametrize("inputs", ["neighbours", "labels"])
def test_a_saved_model_predicts_the_same(data, inputs, tmp_path):
    recipe = Recipe("boosting", model={"inputs": inputs, "columns": 5})
    model = recipe.train(data, uniform(data), epochs=8).model
    loaded = chebnet2d.load(chebnet2d.save(model, tmp_path / "model"))
    assert torch.equal(loaded.predict(data).probabilities, model.predict(data).probabilities)
    assert loaded.state_dict().keys() == model.state_dict().keys()


def test_trees_of_a_file_that_would_never_end_are_refused(data, tmp_path):
    model = Boosting(12, chebnet2d.data.num_classes(data))
    chebnet2d.fit(model, data, uniform(data), epochs=3)
    model.forest.left[int(model.forest.right[0])] = 0  # back to the root
    chebnet2d.save(model, tmp_path / "model")
    with pytest.raises(InputError, match="the trees must lead from each node to later ones"):
        chebnet2d.load(tmp_path / "model")


def test_arrays_of_a_file_with_other_dimensions_are_refused(data, tmp_path):
    model = Logistic(12, chebnet2d.data.num_classes(data))
    model.learn(coefficients=torch.zeros(3, dtype=torch.float64))
    chebnet2d.save(model, tmp_path / "model")
    with pytest.raises(InputError, match="the weights must fit the model"):
        chebnet2d.load(tmp_path / "model")


class TestBalancedClasses:
    @pytest.fixture
    def few(self):
        """A quarter of the second class is left."""
        data = chebnet2d.data.csbm(240, 3, 12, degree=6, signal=1.5, seed=4)
        second = torch.nonzero(data.y == 1).squeeze(1)
        data.y[second[: second.numel() * 3 // 4]] = 0
        return data

    def test_logistic_is_scikit_learns(self, few):
        part, model = uniform(few), Logistic(12, 3)
        chebnet2d.fit(model, few, part, class_weight="balanced")
        reference = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=2000, class_weight="balanced"))
        reference.fit(seen(model, few)[part.train], few.y[part.train])
        expected = reference.predict_proba(seen(model, few))
        np.testing.assert_allclose(model.predict(few).probabilities.numpy(), expected, atol=2e-3)
        plain = Logistic(12, 3)
        chebnet2d.fit(plain, few, part)
        assert model.predict(few).probabilities[:, 1].mean() > 1.3 * plain.predict(few).probabilities[:, 1].mean()

    def test_boosting_is_scikit_learns(self, few):
        part, model = uniform(few), Boosting(12, 3)
        result = chebnet2d.fit(model, few, part, epochs=12, patience=12, class_weight="balanced")
        options = {"early_stopping": False, "random_state": 0, "max_bins": 63, "class_weight": "balanced"}
        reference = HistGradientBoostingClassifier(**options, max_iter=result.best_epoch)
        reference.fit(seen(model, few)[part.train], few.y[part.train])
        found = model.predict(few).probabilities.numpy()
        np.testing.assert_allclose(found, reference.predict_proba(seen(model, few)), atol=1e-5)

    def test_the_largest_class_stays_the_largest(self, few):
        model = Majority(12, 3)
        chebnet2d.fit(model, few, uniform(few), class_weight="balanced")
        assert set(model.predict(few).labels.tolist()) == {0}

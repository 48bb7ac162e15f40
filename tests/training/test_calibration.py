"""Temperature, calibration error and Brier score against scikit-learn, scipy and loops."""

import numpy as np
import pytest
import scipy.optimize
import scipy.special
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

import chebnet2d
from chebnet2d.models import Prediction
from chebnet2d.training import Report, calibrate, fit_temperature, judge
from chebnet2d.training.calibration import HIGHEST, LOWEST, brier_score, calibration_error


def drawn(seed, nodes=200, classes=3, sharpness=1.0):
    """Logits, and labels that are drawn from the softmax of the logits / sharpness."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(nodes, classes)) * 2
    y = (logits / sharpness + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return torch.from_numpy(logits), torch.from_numpy(y)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("sharpness", [0.4, 1.0, 3.0])
def test_the_temperature_is_the_minimum_that_scipy_finds(classes, sharpness):
    logits, y = drawn(classes, classes=classes, sharpness=sharpness)

    def objective(log_t):
        losses = -scipy.special.log_softmax(logits.numpy() / np.exp(log_t), axis=1)[np.arange(len(y)), y.numpy()]
        return losses.sum() + (np.exp(-log_t) - 1) ** 2 / 2

    bounds = np.log([LOWEST, HIGHEST])
    found = scipy.optimize.minimize_scalar(objective, bounds=bounds, method="bounded", options={"xatol": 1e-10})
    assert fit_temperature(logits, y) == pytest.approx(np.exp(found.x), rel=1e-4)


def test_with_many_nodes_it_is_the_one_that_labels_were_drawn_with():
    logits, y = drawn(0, nodes=5000, sharpness=2.5)
    assert fit_temperature(logits, y) == pytest.approx(2.5, rel=0.1)


def test_a_few_nodes_that_are_all_right_do_not_make_it_certain():
    logits = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.5, 0.0]])
    found = fit_temperature(logits, torch.tensor([0, 1, 0]))
    assert 0.3 < found < 1
    assert fit_temperature(1000 * logits, torch.tensor([1, 0, 1])) == HIGHEST


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(LOWEST, HIGHEST), st.sampled_from([1e-7, 1e-3, 1.0, 100.0]))
def test_a_temperature_never_changes_a_label(seed, temperature, scale):
    logits = torch.randn(50, 4, generator=torch.Generator().manual_seed(seed)) * scale
    plain, scaled = Prediction.of_answers([logits]), Prediction.of_answers([logits], temperature=temperature)
    assert torch.equal(plain.labels, scaled.labels)
    assert torch.allclose(scaled.probabilities, (logits / temperature).softmax(dim=1))


@pytest.mark.parametrize("classes", [2, 5])
def test_brier_score_is_that_of_scikit_learn(classes):
    logits, y = drawn(1, classes=classes)
    probabilities = logits.softmax(dim=1)
    given = probabilities[:, 1] if classes == 2 else probabilities
    assert brier_score(probabilities, y) == pytest.approx(brier_score_loss(y.numpy(), given.numpy(), labels=list(range(classes))))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 20))
def test_calibration_error_is_that_of_a_loop(seed, nodes, bins):
    logits, y = drawn(seed, nodes=nodes)
    probabilities, labels = logits.softmax(dim=1), logits.argmax(dim=1)
    expected = 0.0
    for b in range(bins):
        inside = []
        for row, label, true in zip(probabilities.tolist(), labels.tolist(), y.tolist(), strict=True):
            if b / bins <= row[label] and (row[label] < (b + 1) / bins or b == bins - 1):
                inside.append((row[label], label == true))
        if inside:
            confidence, right = (sum(part) / len(inside) for part in zip(*inside, strict=True))
            expected += len(inside) / nodes * abs(confidence - right)
    assert calibration_error(probabilities, labels, y, bins) == pytest.approx(expected)


def test_certain_and_always_right_or_wrong():
    sure, y = torch.eye(3, dtype=torch.float64)[torch.tensor([0, 1, 2, 0])], torch.tensor([0, 1, 2, 0])
    assert calibration_error(sure, sure.argmax(dim=1), y) == brier_score(sure, y) == 0
    assert calibration_error(sure, sure.argmax(dim=1), (y + 1) % 3) == 1
    assert brier_score(sure, (y + 1) % 3) == 2


@pytest.fixture(scope="module")
def trained():
    data = chebnet2d.data.load("csbm", nodes=300, signal=2.0)
    split = chebnet2d.data.split(data, "stratified", seed=0)
    return data, chebnet2d.fit(chebnet2d.ChebNet2D(data.num_features, 3, degree=2), data, split, epochs=15)


class TestOfATrainedModel:
    def test_fit_alone_calibrates_nothing_and_forgets_an_old_one(self, trained):
        data, result = trained
        calibrate(result, data)
        again = chebnet2d.fit(result.model, data, result.split, epochs=15)
        assert (again.model.temperature, again.model.label_sets) == (None, None)

    def test_validation_nodes_decide_and_test_labels_are_in_the_report_alone(self, trained):
        data, result = trained
        plain = result.model.predict(data)
        report = judge(result, data)
        first = result.model.temperature, result.model.label_sets.scores
        val = result.split.val
        logits = plain.probabilities.double().log()
        assert first[0] == pytest.approx(fit_temperature(logits[val], data.y[val]))
        now = result.model.predict(data)
        assert torch.equal(now.labels, plain.labels)
        own = now.probabilities[val].double().gather(1, data.y[val, None]).squeeze(1)
        assert torch.allclose((1 - own).sort().values, first[1], atol=1e-6)
        poisoned = data.clone()
        poisoned.y[result.split.test] = (data.y[result.split.test] + 1) % 3
        other = judge(result, poisoned)
        assert result.model.temperature == first[0]
        assert torch.equal(result.model.label_sets.scores, first[1])
        assert other.calibration["covered"] < report.calibration["covered"]

    def test_the_report_has_what_the_parts_say(self, trained):
        data, result = trained
        report, test = judge(result, data), result.split.test
        answers = result.model.predict(data)
        assert report.calibration["brier_score"] == pytest.approx(brier_score(answers.probabilities[test], data.y[test]))
        assert report.to_json()["calibration"] == report.calibration
        assert report.calibration.keys() == {"expected_calibration_error", "brier_score", "coverage", "covered", "set_size"}
        bare = Report.of(answers.labels[test], answers.probabilities[test], data.y[test])
        assert bare.calibration.keys() == {"expected_calibration_error", "brier_score"}

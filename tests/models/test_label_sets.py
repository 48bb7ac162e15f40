"""Sets of labels: their coverage on exchangeable data, their size, and what is saved of them."""

import json
import math

import numpy as np
import pyarrow.parquet
import pytest
import scipy.special
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import chebnet2d
from chebnet2d import InputError
from chebnet2d.models.label_sets import OUT_OF_FOLD, VALIDATION, LabelSets
from chebnet2d.predictions import Answers, guarantee, write_predictions
from chebnet2d.training import calibrate


def population(seed, nodes, classes=4):
    """Exchangeable nodes, with probabilities that are far from right."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(nodes, classes)) * 2
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)  # drawn from the softmax of the logits
    wrong = scipy.special.softmax(logits * rng.uniform(0.3, 4) + rng.normal(size=classes), axis=1)
    return torch.from_numpy(wrong), torch.from_numpy(y)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("calibrating", [19, 100])
def test_coverage_on_exchangeable_nodes_is_within_binomial_bounds(coverage, calibrating):
    """Each draw is one node with calibration nodes of its own: independent trials of the guarantee."""
    trials, held = 1000, 0
    for seed in range(trials):
        probabilities, y = population(seed, calibrating + 1)
        sets = LabelSets.of(probabilities[:-1], y[:-1], VALIDATION)
        held += bool(sets.sets(probabilities[-1:], probabilities[-1:].argmax(dim=1), coverage)[0, y[-1]])
    assert held >= scipy.stats.binom.ppf(1e-4, trials, coverage)
    # Not much more than asked for either, where the predicted label is no help: at most one rank above.
    if coverage >= 0.8:
        assert held <= scipy.stats.binom.ppf(1 - 1e-4, trials, min(coverage + 1 / (calibrating + 1), 1))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.floats(0.01, 0.99))
def test_by_definition(seed, calibrating, coverage):
    """The ceil((n + 1) coverage)-th smallest score; all labels where there is none."""
    probabilities, y = population(seed, calibrating + 20)
    sets = LabelSets.of(probabilities[:calibrating], y[:calibrating], OUT_OF_FOLD)
    scores = sorted(1 - float(row[label]) for row, label in zip(probabilities[:calibrating], y, strict=False))
    rank = math.ceil(round((calibrating + 1) * coverage, 9))
    level = scores[rank - 1] if rank <= calibrating else math.inf
    rest = probabilities[calibrating:]
    found = sets.sets(rest, rest.argmax(dim=1), coverage)
    assert torch.equal(found, (1 - rest <= level) | (rest == rest.max(dim=1, keepdim=True).values))
    assert found.any(dim=1).all()


def test_more_coverage_means_no_smaller_sets():
    probabilities, y = population(0, 300)
    sets = LabelSets.of(probabilities[:200], y[:200], VALIDATION)
    sizes = [sets.sets(probabilities[200:], probabilities[200:].argmax(dim=1), c).sum() for c in (0.3, 0.6, 0.9, 0.99)]
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


@pytest.mark.parametrize("nodes", [8, 9])
def test_nine_nodes_are_the_fewest_for_nine_of_ten(nodes):
    sets = LabelSets.of(torch.full((nodes, 2), 0.5), torch.zeros(nodes, dtype=torch.int64), VALIDATION)
    assert math.isinf(sets.level(0.9)) == (nodes < 9)
    assert ("needs 9 nodes" in sets.sentence(0.9)) == (nodes < 9)


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5, math.nan, "0.9"])
def test_a_coverage_is_between_0_and_1(coverage):
    sets = LabelSets.of(torch.full((4, 2), 0.5), torch.zeros(4, dtype=torch.int64), VALIDATION)
    with pytest.raises(InputError, match="coverage must be"):
        sets.level(coverage)


@pytest.fixture(scope="module")
def data():
    data = chebnet2d.data.load("csbm", nodes=200, signal=0.5)
    data.class_names = ["a|b", 'say "c"', "d, e"]
    return data


@pytest.fixture(scope="module")
def result(data):
    split = chebnet2d.data.split(data, "stratified", seed=0)
    result = chebnet2d.fit(chebnet2d.ChebNet2D(32, 3, degree=2), data, split, epochs=20)
    calibrate(result, data)
    return result


class TestOfAModel:
    def test_saved_and_loaded_they_are_the_same(self, data, result, tmp_path):
        chebnet2d.save(result.model, tmp_path)
        loaded = chebnet2d.load(tmp_path)
        assert torch.equal(loaded.label_sets.scores, result.model.label_sets.scores)
        assert loaded.label_sets.source == VALIDATION
        assert loaded.temperature == result.model.temperature
        table = chebnet2d.predict(tmp_path, data, coverage=0.9)
        answers = result.model.predict(data)
        inside = result.model.label_sets.sets(answers.probabilities, answers.labels, 0.9)
        for words, row, label in zip(table["label_set"].to_pylist(), inside.tolist(), table["label"].to_pylist(), strict=True):
            assert set(words) == {name for name, there in zip(data.class_names, row, strict=True) if there}
            assert words[0] == label

    def test_files_hold_them_whatever_the_words(self, data, result, tmp_path):
        table = chebnet2d.predict(result.model, data, coverage=0.99)
        for name in ("sets.csv", "sets.parquet"):
            write_predictions(Answers(result.model, data, coverage=0.99), tmp_path / name)
        expected = table["label_set"].to_pylist()
        assert max(map(len, expected)) > 1
        assert pyarrow.parquet.read_table(tmp_path / "sets.parquet")["label_set"].to_pylist() == expected
        frame = pyarrow.csv.read_csv(tmp_path / "sets.csv")
        assert [json.loads(text) for text in frame["label_set"].to_pylist()] == expected

    def test_a_model_that_is_not_calibrated_says_so(self, data):
        with pytest.raises(InputError, match="coverage must be of a model that is calibrated"):
            chebnet2d.predict(chebnet2d.ChebNet2D(32, 3), data, coverage=0.9)

    def test_the_guarantee_is_told_and_where_it_ends(self, result):
        plain = guarantee(result.model, 0.9, moved=False)
        assert "each holds the true label with a probability of at least 0.9, for nodes that are exchangeable with" in plain
        assert "whether its nodes are exchangeable with them is not known" in guarantee(result.model, 0.9, moved=True)

    @pytest.mark.parametrize("scores", [[0.5, 0.4], [2.0], [math.nan]])
    def test_scores_that_were_edited_are_told(self, scores):
        with pytest.raises(InputError, match="must be ascending numbers from 0 to 1"):
            LabelSets.from_tensors({"label sets: validation": torch.tensor(scores, dtype=torch.float64)})

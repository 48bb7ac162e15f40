"""``NodePredictor``: what it is judged by, what it answers, and that it is the same after saving."""

import re

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score

import chebnet2d
from chebnet2d import InputError
from chebnet2d.auto import NodePredictor
from small_auto import ENTRIES, graph, small, without_seconds


@pytest.fixture(scope="module")
def data():
    return graph()


@pytest.fixture(scope="module")
def fitted(data):
    return small().fit(data, budget=8)


def test_the_leaderboard_is_in_order_and_complete(fitted):
    rows = fitted.leaderboard()
    assert {row["method"] for row in rows} == set(ENTRIES)
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert all(row["low"] <= row["score"] <= row["high"] and row["status"] == "finished" for row in rows)
    assert rows[0]["in_predictor"]
    assert not rows[-1]["in_predictor"]
    assert sum(row["trainings"] for row in rows) == 8


def test_it_beats_the_majority_on_nodes_that_nothing_looked_at(fitted, data):
    test = fitted.facts["test"]
    assert test["scores"]["accuracy"] > test["majority"] + 0.2
    split = chebnet2d.data.split(data, "uniform", 0)
    words = fitted.predict(data)[split.test.numpy()]
    assert test["scores"]["accuracy"] == pytest.approx(accuracy_score(data.y[split.test].numpy().astype(str), words))


def test_poisoned_test_labels_change_the_report_alone(fitted, data):
    poisoned = data.clone()
    test = chebnet2d.data.split(data, "uniform", 0).test
    poisoned.y[test] = (poisoned.y[test] + 1) % 3
    other = small().fit(poisoned, budget=8)
    assert without_seconds(other.leaderboard()) == without_seconds(fitted.leaderboard())
    assert np.array_equal(other.predict_proba(data), fitted.predict_proba(data))
    assert other.facts["graph_adds"] == fitted.facts["graph_adds"]
    assert other.facts["test"] != fitted.facts["test"]


def test_saved_and_loaded_it_is_the_same(fitted, data, tmp_path):
    fitted.save(tmp_path / "p")
    loaded = NodePredictor.load(tmp_path / "p")
    assert np.array_equal(loaded.predict_proba(data), fitted.predict_proba(data))
    assert loaded.leaderboard() == fitted.leaderboard()
    assert loaded.graph_adds == fitted.graph_adds
    table = chebnet2d.predict(tmp_path / "p", data)
    assert table.column("label").to_pylist() == fitted.predict(data).tolist()
    assert set(table.column("part").to_pylist()) == {"train", "test"}
    assert loaded.evaluate(data).to_json()["confusion"] == fitted.facts["test"]["confusion"]
    assert loaded.evaluate(data).scores == pytest.approx(fitted.facts["test"]["scores"])
    fitted.save(tmp_path / "p")  # in the place of the old one
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p"]


def test_probabilities_are_the_mean_over_members_and_models(fitted, data):
    every = [
        np.mean([model.predict(data).probabilities.numpy() for model in member], axis=0) for member in fitted.ensemble.models
    ]
    powers = np.mean(every, axis=0) ** (1 / fitted.ensemble.temperature)
    assert np.allclose(fitted.predict_proba(data), powers / powers.sum(axis=1, keepdims=True), atol=1e-6)
    assert np.allclose(fitted.predict_proba(data).sum(axis=1), 1)


def test_a_temperature_flattens_and_is_saved(fitted, data, tmp_path):
    fitted.save(tmp_path / "p")
    loaded = NodePredictor.load(tmp_path / "p")
    loaded.ensemble.temperature = 2 * fitted.ensemble.temperature
    loaded.save(tmp_path / "p")
    flat, sharp = NodePredictor.load(tmp_path / "p").predict_proba(data), fitted.predict_proba(data)
    root = np.sqrt(sharp)
    assert np.allclose(flat, root / root.sum(axis=1, keepdims=True))


def test_sets_of_labels_come_from_out_of_fold_nodes(fitted, data, tmp_path):
    sets = fitted.predict(data, coverage=0.8)
    assert all(word in words <= {"0", "1", "2"} for word, words in zip(fitted.predict(data), sets, strict=True))
    assert fitted.ensemble.label_sets.scores.numel() == fitted.facts["pool"]
    assert fitted.ensemble.label_sets.source == "out-of-fold"
    fitted.save(tmp_path / "p")
    assert NodePredictor.load(tmp_path / "p").predict(data, coverage=0.8) == sets
    assert fitted.facts["test"]["calibration"]["coverage"] == 0.9


def test_an_inductive_one_predicts_a_graph_with_other_nodes(data):
    fitted = small(inductive=True, methods=["logistic"]).fit(data, budget=2)
    later = graph(nodes=120, seed=2)
    assert fitted.predict_proba(later).shape == (120, 3)
    assert not fitted.ensemble.bound_to_nodes


def test_labels_of_another_graph_are_found_by_their_words(fitted, data):
    other = data.clone()
    other.class_names = ["2", "1", "0"]
    other.y = 2 - data.y
    assert fitted.evaluate(other).to_json() == fitted.evaluate(data).to_json()
    other.class_names = ["2", "1", "x"]
    with pytest.raises(InputError, match="the labels must be among 0, 1, 2, got 'x'"):
        fitted.evaluate(other)


def test_without_a_test_part_all_labels_are_used(data):
    fitted = small(split="none", methods=["majority"]).fit(data, budget=1)
    assert fitted.facts["pool"] == data.num_nodes
    assert fitted.facts["test"] is None
    with pytest.raises(InputError, match="labelled nodes that were not trained on"):
        fitted.evaluate(data)


def test_two_classes_have_a_threshold_from_out_of_fold_nodes():
    data = graph(nodes=120, classes=2)
    few = torch.nonzero(data.y == 1).squeeze(1)
    data.y[few[: few.numel() * 3 // 4]] = 0
    fitted = small(metric="f1", methods=["logistic:features"]).fit(data, budget=1)
    assert 0 < fitted.ensemble.threshold < 0.5  # the rare class is given more often than by the larger probability
    assert fitted.facts["metric"] == "f1"


class TestWrongCalls:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"metric": "f1"}, "metric must be defined for 3 classes"),
            ({"folds": 1}, "folds must be an integer from 2 to 50"),
            ({"folds": 40}, "the split must leave at least 80 nodes outside of test"),
            ({"class_weight": "heavy"}, "class_weight must be one of"),
            ({"methods": ["logistc"]}, "must be one of"),
            ({"methods": ["linkx"], "inductive": True}, "methods must be of methods that serve any graph, got 'linkx'"),
        ],
    )
    def test_each_has_its_sentence(self, data, options, sentence):
        with pytest.raises(InputError, match=sentence):
            small(**options).fit(data, budget=1)

    def test_before_fit(self, data):
        with pytest.raises(InputError, match="fitted first"):
            NodePredictor().predict(data)

    def test_a_folder_with_something_else_stays(self, fitted, tmp_path):
        (tmp_path / "a.txt").write_text("mine")
        with pytest.raises(InputError, match="with a predictor, got .* with 'a.txt'"):
            fitted.save(tmp_path)
        assert (tmp_path / "a.txt").read_text() == "mine"

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ("member-0/model-0", "../../model-0", "lists of names like member-0/model-0"),
            ("chebnet2d-predictor-1", "chebnet2d-predictor-9", "of the format"),
            (r'"temperature": [\d.]+', '"temperature": "hot"', "of the type int or float or null"),
            (r'"temperature": [\d.]+', '"temperature": 0', "temperature in predictor.json must be a number in"),
            ('"threshold": null', '"threshold": 7', "threshold in predictor.json must be a number in"),
            ('"nodes": "', '"nodes": "0', "must match the checksum"),
            ('"facts"', '"fact"', "must have the fields"),
        ],
    )
    def test_an_edited_file_is_told(self, fitted, tmp_path, old, new, sentence):
        file = fitted.save(tmp_path / "p") / "predictor.json"
        text = file.read_text()
        edited, count = re.subn(old, new, text, count=1)
        assert count == 1
        file.write_text(edited)
        with pytest.raises(InputError, match=sentence):
            NodePredictor.load(tmp_path / "p")

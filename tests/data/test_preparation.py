"""Graphs from one word, and other graphs prepared as the one that a model was trained on."""

import dataclasses
import json

import pytest
import torch

import chebnet2d
from chebnet2d import InputError
from chebnet2d.data import Preparation, ReadOptions, load_graph
from chebnet2d.data.any_graph import check_trainable, files_of


@pytest.fixture
def data():
    return chebnet2d.data.load("csbm", nodes=30, classes=2, features=4, homophily=0.9, seed=0)


def test_another_graph_has_the_scale_of_the_first(data):
    preparation = Preparation.fit(data, "standardize")
    other = data.clone()
    other.x = 2 * data.x + 1
    expected = (other.x - torch.tensor(preparation.scale["mean"])) / torch.tensor(preparation.scale["deviation"])
    torch.testing.assert_close(preparation.apply(other).x.double(), expected.double(), atol=1e-5, rtol=1e-5)
    assert Preparation().apply(data) is data


def test_it_survives_json_and_a_folder(data, tmp_path):
    data.feature_names = list("abcd")
    preparation = Preparation.fit(data, "standardize", {"edges": "e.csv", "label": "kind"})
    assert preparation.read_options == {"label": "kind"}, "not which files, but how they are read"
    assert Preparation.from_json({**json.loads(json.dumps(preparation.to_json())), "seed": 3}) == preparation
    for name, text in preparation.as_file().items():
        (tmp_path / name).write_text(text)
    assert Preparation.read(tmp_path) == preparation
    assert Preparation.read(tmp_path / "none") == Preparation()
    with pytest.raises(InputError, match="the features must be prepared by 'none', as the preset says, got 'standardize'"):
        preparation.check_transform("train", "none")


def test_features_are_put_in_order_by_name(data):
    data.feature_names = list("abcd")
    preparation = Preparation.fit(data)
    other = data.clone()
    other.x, other.feature_names = data.x[:, [3, 1, 0, 2]], list("dbac")
    assert torch.equal(preparation.apply(other).x, data.x)
    other.feature_names = list("dbae")
    with pytest.raises(InputError, match="the features must be the 4 columns that the model was trained on, got no 'c'"):
        preparation.apply(other)


@pytest.mark.parametrize(
    ("arguments", "reading", "sentence"),
    [
        ((), {}, "the graph must be given by a name, a path or a list of edges, got none of them. Name one, or give edges=."),
        (("digits",), {"edges": "e.csv"}, "edges must be the only graph, got 'digits' besides"),
        (("digits",), {"label": "y"}, "label must come with a graph of your own, got it with the dataset 'digits'"),
        (("coraa",), {}, "name must be one of 'digits'"),
    ],
)
def test_wrong_words(arguments, reading, sentence):
    with pytest.raises(InputError, match=sentence):
        load_graph(*arguments, **reading)


def test_a_graph_needs_two_classes_and_its_files_are_known(data, tmp_path):
    check_trainable(data, "train")
    data.y = torch.zeros_like(data.y)
    with pytest.raises(InputError, match="train: the graph must have labels of at least two classes, got one class only"):
        check_trainable(data, "train")
    assert files_of("digits", {}) == []
    assert tmp_path / "edges.csv" in files_of(f"{tmp_path}/", {})


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"read_options": {"edges": "/some/file.csv"}}, "an option among the read_options .* must be one of .* got 'edges'"),
        ({"read_options": {"labels": "labels.csv"}}, "an option among the read_options .* got 'labels'"),
        ({"read_options": {"features": "secret.csv"}}, "features among the read_options .* must be one of 'degree', 'identity'"),
        ({"read_options": {"label": 3}}, "label must be a text, got 3"),
        ({"read_options": {"ignore": "name"}}, "ignore must be a list of names"),
        ({"read_options": [1]}, "must be a table of options"),
        ({"transform": "none?"}, "transform in the facts of the model must be one of 'none'"),
        ({"transform": ["none"]}, "must be one of 'none'"),
        ({"scale": {"mean": [1.0], "deviation": [1.0, 2.0]}}, "must be numbers, one for each feature"),
        ({"scale": {"mean": 3, "deviation": 3}}, "must be numbers, one for each feature"),
        ({"scale": 3}, "must be a mean and a deviation"),
        ({"class_names": 3}, "must be a list of texts"),
        ({"feature_names": [1]}, "must be a list of texts"),
    ],
)
def test_hostile_facts_are_refused(facts, sentence):
    """A model carries options, never paths: what is read is for the caller to say."""
    with pytest.raises(InputError, match=sentence):
        Preparation.from_json(facts)


def test_every_option_of_reading_can_be_saved_and_no_other():
    known = {field.name for field in dataclasses.fields(ReadOptions)} | {"features"}
    for name in known:
        value = {"ignore": [], "header": True, "lenient": True, "features": "degree"}.get(name, "auto")
        assert Preparation.from_json({"read_options": {name: value}}).read_options == {name: value}

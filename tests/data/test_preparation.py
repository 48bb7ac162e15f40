"""Graphs from one word, and other graphs prepared as the one that a model was trained on."""

import json

import pytest
import torch

import chebnet2d
from chebnet2d import InputError
from chebnet2d.data import Preparation, load_graph
from chebnet2d.data.any_graph import check_classes, files_of


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
    preparation.write(tmp_path)
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
    check_classes(data, "train")
    data.y = torch.zeros_like(data.y)
    with pytest.raises(InputError, match="train: the graph must have labels of at least two classes, got one class only"):
        check_classes(data, "train")
    assert files_of("digits", {}) == []
    assert tmp_path / "edges.csv" in files_of(f"{tmp_path}/", {})

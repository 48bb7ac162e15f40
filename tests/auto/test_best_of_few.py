"""``best_of_few``: validation nodes choose, test nodes are looked at once, and Ctrl-C keeps what is done."""

from dataclasses import replace

import pytest
import torch
from sklearn.metrics import accuracy_score

import chebnet2d
from chebnet2d.auto import FEW, best_of_few, make_portfolio
from chebnet2d.auto.best_of_few import FEATURES_ALONE
from small_auto import graph

SHORT = {"epochs": 4}


@pytest.fixture(scope="module")
def data():
    return graph()


@pytest.fixture(scope="module")
def split(data):
    return chebnet2d.data.split(data, "stratified", 0)


@pytest.fixture(scope="module")
def chosen(data, split):
    return best_of_few(data, split, 3, settings=SHORT)


def test_each_is_trained_as_it_would_be_alone(chosen, data, split):
    alone = {
        entry.name: entry.recipe.train(data, split, 3, **SHORT).val_metric for entry in make_portfolio(data, FEW, inductive=True)
    }
    assert chosen.scores == pytest.approx(alone)
    assert chosen.result.val_metric == max(alone.values())
    assert chosen.entry == next(name for name in FEW if alone[name] == max(alone.values()))
    assert str(chosen).startswith(f"method: {chosen.entry}, by validation accuracy (chebnet2d {alone['chebnet2d']:.4f}, ")


def test_the_test_nodes_have_no_say(chosen, data, split):
    words = chosen.result.model.predict(data).labels[split.test]
    assert chosen.result.test["accuracy"] == pytest.approx(accuracy_score(data.y[split.test], words))
    poisoned = data.clone()
    poisoned.y[split.test] = (data.y[split.test] + 1) % 3
    other = best_of_few(poisoned, split, 3, settings=SHORT)
    assert (other.entry, other.scores) == (chosen.entry, chosen.scores)
    assert other.result.test != chosen.result.test


def test_ctrl_c_keeps_the_best_of_those_that_are_done(data, split):
    epochs = []

    def interrupting(now):
        epochs.append(now.epoch)
        if epochs.count(1) == 2:  # the second method has begun
            raise KeyboardInterrupt

    stopped = best_of_few(data, split, 3, settings=SHORT, progress=interrupting)
    assert list(stopped.scores) == ["chebnet2d"]
    assert isinstance(stopped.stopped, KeyboardInterrupt)
    assert stopped.result.test == {}


def test_without_memory_the_first_is_left(data, split):
    poor = best_of_few(data, split, 3, settings=SHORT, memory=0)
    assert poor.entry == "chebnet2d"
    assert str(poor).endswith("; not tried, for the graph is large: mlp, boosting:labels, chebnetii, tuned-sage:deep")


def test_one_of_them_does_not_see_the_graph_and_the_line_says_so(chosen, data):
    (alone,) = (entry for entry in make_portfolio(data, FEW, inductive=True) if entry.name == FEATURES_ALONE)
    model = alone.recipe.build(data).eval()
    without = data.clone()
    without.edge_index = data.edge_index[:, :0]
    assert torch.equal(model.predict(data).probabilities, model.predict(without).probabilities)
    words = "; the graph adds nothing to the features here"
    assert words in str(replace(chosen, entry=FEATURES_ALONE))
    assert words not in str(replace(chosen, entry="chebnet2d"))

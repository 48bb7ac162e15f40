"""``GraphClassifier`` by scikit-learn's own checks, and on graphs."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import chebnet2d
from chebnet2d import GraphClassifier, InputError
from small_estimator import EXPECTED_FAILED_CHECKS, QUICK, QUICKEST


def test_the_checks_of_scikit_learn():
    """What cannot hold is listed with its reason, and does fail: a list that is too long is as wrong as one that is too short."""
    results = check_estimator(
        GraphClassifier(**QUICKEST), on_fail=None, on_skip=None, expected_failed_checks=dict(EXPECTED_FAILED_CHECKS)
    )
    failed = {result["check_name"]: repr(result["exception"]) for result in results if result["status"] == "failed"}
    assert failed == {}
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(EXPECTED_FAILED_CHECKS)
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=150, signal=0.8)


@pytest.fixture(scope="module")
def adjacency(data):
    return chebnet2d.data.to_scipy(data)


@pytest.fixture(scope="module")
def known(data):
    """Two of three nodes have their label."""
    return np.where(np.arange(150) % 3 > 0, data.y.numpy(), -1)


@pytest.fixture(scope="module")
def fitted(data, adjacency, known):
    return GraphClassifier(**QUICK).fit(data.x.numpy(), known, adjacency=adjacency)


def test_unlabelled_nodes_are_predicted_better_with_their_edges(data, adjacency, known, fitted):
    X, hidden = data.x.numpy(), known == -1
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.n_features_in_ == 32
    assert (fitted.model_.seen.part_of(np.arange(150)).count("val"), fitted.model_.seen.part_of([0])) == (20, [None])
    alone = GraphClassifier(**QUICK).fit(X, known)
    scores = [accuracy_score(data.y[hidden], one.predict(X)[hidden]) for one in (fitted, alone)]
    assert scores[0] > scores[1] + 0.1
    assert fitted.score(X, known) == pytest.approx(accuracy_score(known[~hidden], fitted.predict(X)[~hidden]))
    probabilities = fitted.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(probabilities.argmax(axis=1), fitted.predict(X))


def test_labels_of_unlabelled_nodes_are_not_looked_at(data, adjacency, known, fitted):
    words = np.where(known == -1, "", np.array(["a", "b", "c"], dtype=object)[known])
    other = GraphClassifier(**QUICK).fit(data.x.numpy(), words.astype(str), adjacency=adjacency.toarray())
    assert other.classes_.tolist() == ["a", "b", "c"]
    assert np.array_equal(other.predict_proba(data.x.numpy()), fitted.predict_proba(data.x.numpy()))


def test_other_graphs_need_their_edges(data, adjacency, fitted):
    X = data.x.numpy()
    order = np.random.default_rng(0).permutation(150)
    moved = fitted.predict_proba(X[order], adjacency=adjacency[order][:, order])
    assert np.allclose(moved, fitted.predict_proba(X)[order], atol=1e-5)
    with pytest.raises(InputError, match="adjacency must be given for these nodes"):
        fitted.predict(X[order])
    with pytest.raises(InputError, match="adjacency must be 10 x 10, a row for each node of X"):
        fitted.predict(X[:10], adjacency=adjacency)


def test_saved_without_pickle_and_loaded(data, adjacency, fitted, tmp_path):
    fitted.save(tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".safetensors", ".md"}
    loaded = GraphClassifier.load(tmp_path)
    assert loaded.get_params() == fitted.get_params()
    X = data.x.numpy()
    assert np.array_equal(loaded.predict_proba(X, adjacency=adjacency), fitted.predict_proba(X))
    assert chebnet2d.predict(tmp_path, data).num_rows == 150
    with pytest.raises(InputError, match="adjacency must be given"):
        loaded.predict(X)
    chebnet2d.save(chebnet2d.ChebNet2D(3, 2), tmp_path / "other")
    with pytest.raises(InputError, match=r"one that GraphClassifier\.save wrote"):
        GraphClassifier.load(tmp_path / "other")


class TestNodesByNumber:
    def test_a_search_over_nodes_with_one_graph(self, data):
        nodes, y = np.arange(150)[:, None], data.y.numpy()
        search = GridSearchCV(GraphClassifier(graph=data, **QUICK), {"degree": [0, 2]}, cv=2).fit(nodes, y)
        assert search.best_params_ == {"degree": 2}  # of degree 0 it sees no edges
        assert search.best_estimator_.graph is data
        assert search.predict(nodes[:7]).shape == (7,)
        assert (data.y.numpy() == y).all()

    def test_only_the_nodes_that_are_given_are_trained_on(self, data):
        nodes = np.arange(60)[:, None]
        fitted = GraphClassifier(graph=data, **QUICK).fit(nodes, data.y.numpy()[:60])
        assert {part is None for part in fitted.model_.seen.part_of(np.arange(60, 150))} == {True}
        poisoned = data.clone()
        poisoned.y[60:] = 0
        other = GraphClassifier(graph=poisoned, **QUICK).fit(nodes, data.y.numpy()[:60])
        assert np.array_equal(other.predict_proba(nodes), fitted.predict_proba(nodes))

    def test_it_is_the_same_as_by_features_and_edges(self, data, adjacency, known, fitted):
        rows = np.flatnonzero(known >= 0)
        plain = GraphClassifier(graph=data, **QUICK).fit(rows[:, None], known[rows])
        raw = GraphClassifier(**{**QUICK, "preprocess": "none"}).fit(data.x.numpy(), known, adjacency=adjacency)
        assert np.array_equal(plain.predict(np.arange(150)[:, None]), raw.predict(data.x.numpy()))

    @pytest.mark.parametrize("nodes", [[[150]], [[-1]], [[0.5]], [[0, 1]]])
    def test_numbers_that_are_none(self, data, nodes):
        with pytest.raises(InputError, match="X must be a column of node numbers below 150"):
            GraphClassifier(graph=data, **QUICK).fit(np.array([*nodes, *nodes]), [0, 1])

    def test_scores_by_cross_validation(self, data):
        scores = cross_val_score(GraphClassifier(graph=data, **QUICK), np.arange(150)[:, None], data.y.numpy(), cv=2)
        assert scores.min() > 0.5


def test_a_clone_shares_the_graph_and_nothing_that_was_learned(data):
    first = GraphClassifier("gprgnn", graph=data, arguments={"alpha": 0.2})
    second = clone(first)
    assert second.graph is data
    assert second.get_params() == first.get_params()
    assert second.arguments is not first.arguments
    assert not hasattr(second, "model_")


def test_it_can_be_sent_to_other_processes(data, fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(data.x.numpy()), fitted.predict(data.x.numpy()))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "chebnet3d"}, "must be one of"),
        ({"method": "mlp", "degree": 3}, "degree must be an argument of the method, got it with 'mlp'"),
        ({"lr": -1}, "lr must be a finite number"),
        ({"metric": "f1"}, "metric must be defined for 3 classes"),
        ({"validation_fraction": 1.5}, "validation_fraction must be a number"),
        ({"preprocess": "twice"}, "preprocess must be one of"),
        ({"graph": 3}, "graph must be a Data with x and edge_index"),
    ],
)
def test_wrong_parameters_are_told_by_fit(data, options, sentence):
    with pytest.raises(InputError, match=sentence):
        GraphClassifier(**{**QUICK, **options}).fit(data.x.numpy(), data.y.numpy())


def test_sparse_features(data, adjacency, known):
    X = scipy.sparse.csr_array(np.where(data.x.numpy() > 1, data.x.numpy(), 0))
    fitted = GraphClassifier(**QUICK).fit(X, known, adjacency=adjacency)
    assert fitted.score(X, data.y.numpy()) > 0.5

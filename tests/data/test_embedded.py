"""Embedded datasets and the common form of every ``Data``."""

import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import homophily

from chebnet2d import InputError
from chebnet2d.data import csbm, dataset_digest, digits, load, make_data, num_classes, statistics
from chebnet2d.data.dataset import both_directions
from common_form import assert_common_form


def test_digits_is_the_nearest_neighbour_graph_of_scikit_learns_images():
    data = load("digits")
    assert_common_form(data)
    assert (data.num_nodes, data.num_features, data.num_classes) == (1797, 64, 10)
    assert data.x.min() == 0
    assert data.x.max() == 1
    distance = torch.cdist(data.x[:50].double(), data.x.double())
    nearest = distance.argsort(dim=1, stable=True)[:, 1:11]
    neighbours = [set(data.edge_index[1, data.edge_index[0] == node].tolist()) for node in range(50)]
    agree = [len(set(row.tolist()) & found) for row, found in zip(nearest, neighbours, strict=True)]
    assert min(agree) >= 9  # equal distances may be cut differently
    assert sum(agree) >= 495
    assert digits(neighbours=3).num_edges < data.num_edges


@given(
    st.integers(20, 200),
    st.integers(2, 5),
    st.floats(0, 1),
    st.floats(0, 4),
    st.integers(0, 2**40),
)
def test_csbm_has_exactly_the_homophily_and_degree_asked_for(nodes, classes, wanted, degree, seed):
    data = csbm(nodes=nodes, classes=classes, features=4, homophily=wanted, degree=degree, seed=seed)
    assert_common_form(data)
    edges = round(nodes * degree / 2)
    assert data.num_edges == 2 * edges
    same = int((data.y[data.edge_index[0]] == data.y[data.edge_index[1]]).sum()) // 2
    assert same == round(wanted * edges)
    sizes = data.y.bincount(minlength=classes)
    assert sizes.max() - sizes.min() <= 1


@given(st.integers(4, 12), st.floats(0, 1), st.integers(0, 1000))
def test_csbm_fills_small_graphs_up_to_the_complete_one(nodes, share, seed):
    y = np.arange(nodes) % 2
    inside = sum(int(a) == int(b) for i, a in enumerate(y) for b in y[:i])
    across = nodes * (nodes - 1) // 2 - inside
    edges = int(share * (inside + across))
    homophilous = inside / (inside + across)
    within = round(homophilous * edges)
    assume(within <= inside and edges - within <= across)
    data = csbm(nodes=nodes, classes=2, homophily=homophilous, degree=2 * edges / nodes, seed=seed)
    assert data.num_edges == 2 * edges


def test_csbm_is_a_pure_function_of_its_arguments():
    assert dataset_digest(csbm(seed=3)) == dataset_digest(load("csbm", seed=3)) != dataset_digest(csbm(seed=4))


def test_csbm_pairs_are_uniform():
    """Every possible edge within classes is drawn equally often: a chi-square of about its degrees of freedom."""
    counts = np.zeros((9, 9))
    draws = 1500
    for seed in range(draws):
        data = csbm(nodes=9, classes=1, features=1, homophily=1.0, degree=2 * 5 / 9, seed=seed)
        counts[data.edge_index[0], data.edge_index[1]] += 1
    found = counts[np.triu_indices(9, 1)]
    expected = draws * 5 / 36
    assert found.sum() == draws * 5
    assert ((found - expected) ** 2 / expected).sum() < 36 + 4 * np.sqrt(72)


def test_signal_is_the_distance_of_the_class_means():
    data = csbm(nodes=30000, classes=3, features=5, signal=4.0, degree=0)
    means = torch.stack([data.x[data.y == c].mean(dim=0) for c in range(3)])
    torch.testing.assert_close(means.norm(dim=1), torch.full((3,), 4.0), atol=0.1, rtol=0)
    assert data.x[data.y == 0].std(dim=0).sub(1).abs().max() < 0.05


def test_large_random_graphs_are_quick():
    data = csbm(nodes=100_000, degree=10, features=4)
    assert data.num_edges == 1_000_000


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40))
def test_both_directions_against_dense(nodes, pairs):
    pairs = [(a % nodes, b % nodes) for a, b in pairs]
    dense = np.zeros((nodes, nodes), dtype=bool)
    for a, b in pairs:
        dense[a, b] = dense[b, a] = a != b
    found = both_directions(np.array(pairs, dtype=np.int64).reshape(-1, 2).T, nodes)
    assert found.tolist() == np.stack(np.nonzero(dense)).tolist()


def test_statistics_against_counting_by_hand():
    # 0 and 1 have the neighbours 2 and 3 and the same label; 4 has them and another label; 5 is alone; 6 hangs on 2.
    edges = np.array([[0, 0, 1, 1, 4, 4, 6], [2, 3, 2, 3, 2, 3, 2]])
    x = np.eye(7, 3, dtype=np.float32)
    x[1] = x[0]
    data = make_data("toy", x, edges, np.array([0, 0, 1, 1, 1, -1, 0]))
    found = statistics(data)
    assert (found.nodes, found.edges, found.features, found.classes) == (7, 7, 3, 2)
    assert found.isolated == 1
    assert found.homophily == pytest.approx(homophily(data.edge_index, data.y, method="edge"), abs=1e-4)
    assert found.twins == 1
    assert found.duplicates == 1
    x[1, 2] = 0.5
    assert statistics(make_data("toy", x, edges, data.y.numpy())).duplicates == 0
    sparse = data.clone()
    sparse.x = data.x.to_sparse_csr()
    assert statistics(sparse) == found


def test_large_sparse_features_stay_sparse(monkeypatch):
    monkeypatch.setattr("chebnet2d.data.dataset.DENSE_LIMIT", 100)
    matrix = scipy.sparse.random_array((20, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    data = make_data("toy", matrix, np.zeros((2, 0), np.int64), np.zeros(20, np.int64))
    assert data.x.layout == torch.sparse_csr
    torch.testing.assert_close(data.x.to_dense(), torch.from_numpy(matrix.toarray()).float())
    assert (data.num_nodes, data.num_features) == (20, 30)


def test_the_digest_sees_every_tensor():
    base = csbm(nodes=50, degree=3)
    seen = {dataset_digest(base)}
    for key, change in (("x", 1e-3), ("y", 1), ("edge_index", 1)):
        other = base.clone()
        other[key][(0,) * other[key].dim()] += change
        seen.add(dataset_digest(other))
    weighted = base.clone()
    weighted.edge_weight = torch.ones(base.num_edges)
    seen.add(dataset_digest(weighted))
    assert len(seen) == 5
    assert dataset_digest(base.clone()) in seen


def test_number_of_classes_without_the_attribute():
    assert num_classes(Data(y=torch.tensor([0, 2, -1]))) == 3


ONE, NONE = np.ones((1, 2)), np.zeros((2, 0))
WRONG = {
    "homophily": (lambda: csbm(homophily=1.5), r"csbm: homophily must be a number in \[0, 1\], got 1.5"),
    "classes": (lambda: csbm(nodes=3, classes=4), r"csbm: classes must be an integer from 1 to 3, got 4"),
    "degree": (lambda: csbm(degree=float("nan")), r"csbm: degree must be a finite number >= 0, got nan"),
    "dense": (lambda: csbm(nodes=10, degree=9, homophily=1.0), r"at most 12 edges within classes, got 45. Lower the degree"),
    "no other class": (lambda: csbm(classes=1, homophily=0.5), r"at most 0 edges between classes, got 2500"),
    "option": (lambda: load("csbm", homophilly=0.5), r"load\('csbm'\): an option must be one of .* Did you mean 'homophily'"),
    "neighbours": (lambda: load("digits", neighbours=0), r"digits: neighbours must be an integer from 1 to 1796, got 0"),
    "name": (lambda: load("corra"), r"load: name must be one of .*Did you mean 'cora'"),
    "type of name": (lambda: load(3), r"load: name must be one of .*got 3"),
    "list of names": (lambda: load(["cora"]), r"load: name must be one of .*got \['cora'\]"),
    "root": (lambda: load("cora", root=3), r"data: root must be a path, got int"),
    "option of a file": (lambda: load("cora", seed=3), r"load\('cora'\): options must be none, got 'seed'"),
    "y": (
        lambda: make_data("toy", np.ones((3, 2)), np.zeros((2, 0)), np.zeros(2, int)),
        r"toy: y must be one integer for each of the 3",
    ),
    "label": (
        lambda: make_data("toy", ONE, NONE, np.array([-2])),
        r"toy: y must be class indices .* got -2",
    ),
    "nan": (lambda: make_data("toy", np.nan * ONE, NONE, np.array([0])), r"toy: x must be .*got NaN"),
    "edge": (
        lambda: make_data("toy", ONE, np.ones((2, 1), int), np.array([0])),
        r"toy: edges must be node .* from 0 to 0, got 1",
    ),
    "metric": (
        lambda: make_data("toy", ONE, NONE, np.array([0]), metric=None),
        r"toy: metric must be the name of a metric, got None",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_get_one_sentence(case):
    call, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        call()

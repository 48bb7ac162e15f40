"""Transforms: each copies, and does the same to sparse and to dense features."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import StandardScaler, normalize

from chebnet2d import InputError
from chebnet2d.data import TRANSFORMS, csbm, dataset_digest, largest_component, make_data, row_normalize_features, standardize

numbers = st.floats(-50, 50, width=32, allow_subnormal=False).map(lambda value: 0.0 if abs(value) < 1e-3 else value)
matrices = hnp.arrays(np.float32, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=numbers)


def with_features(x):
    nodes = len(x)
    path = np.stack([np.arange(nodes - 1), np.arange(1, nodes)])
    return make_data("toy", x, path, np.zeros(nodes, np.int64))


def sparse_of(data):
    copy = data.clone()
    copy.x = data.x.to_sparse_csr()
    return copy


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("form", [lambda data: data, sparse_of])
def test_every_transform_copies(name, form):
    data = form(csbm(nodes=40, degree=1.5, features=5, seed=2))
    before = dataset_digest(data)
    changed = TRANSFORMS[name](data)
    assert changed is not data
    for key in ("edge_index", "y"):
        changed[key].fill_(0)
    (changed.x if changed.x.layout == torch.strided else changed.x.values()).fill_(7)
    assert dataset_digest(data) == before


@given(matrices)
def test_row_normalisation_against_scikit_learn(x):
    data = with_features(x)
    expected = torch.from_numpy(normalize(x.astype(np.float64), norm="l1")).float()
    torch.testing.assert_close(row_normalize_features(data).x, expected, atol=1e-6, rtol=1e-5)
    sparse = row_normalize_features(sparse_of(data)).x
    assert sparse.layout == torch.sparse_csr
    torch.testing.assert_close(sparse.to_dense(), expected, atol=1e-6, rtol=1e-5)


@given(matrices)
def test_z_scores_against_scikit_learn(x):
    data = with_features(x)
    expected = StandardScaler().fit_transform(x.astype(np.float64))
    expected[:, np.ptp(x, axis=0) == 0] = 0
    for form in (data, sparse_of(data)):
        torch.testing.assert_close(standardize(form).x, torch.from_numpy(expected).float(), atol=1e-4, rtol=1e-4)


@given(st.integers(1, 25), st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=25), st.booleans())
def test_largest_component_against_networkx(nodes, pairs, sparse):
    edges = np.array([(a % nodes, b % nodes) for a, b in pairs], dtype=np.int64).reshape(-1, 2).T
    x = np.arange(nodes * 2, dtype=np.float32).reshape(nodes, 2) + 1
    mask = np.arange(nodes) % 2 == 0
    data = make_data("toy", x, edges, np.arange(nodes) % 3, num_classes=3, masks={"train": mask, "val": ~mask, "test": ~mask})
    data.node_ids = [f"n{node}" for node in range(nodes)]
    found = largest_component(sparse_of(data) if sparse else data)
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(edges.T.tolist())
    kept = found.original_index.tolist()
    assert len(kept) == max(map(len, nx.connected_components(graph)))
    assert set(kept) == nx.node_connected_component(graph, kept[0])
    assert kept == sorted(kept)
    assert found.num_nodes == len(kept)
    torch.testing.assert_close(found.x.to_dense(), data.x[kept])
    assert found.y.tolist() == data.y[kept].tolist()
    assert found.train_mask.tolist() == data.train_mask[kept].tolist()
    assert found.node_ids == [f"n{node}" for node in kept]
    ours = {(kept[a], kept[b]) for a, b in found.edge_index.T.tolist()}
    assert ours == {(a, b) for a, b in data.edge_index.T.tolist() if a in set(kept)}
    assert found.num_classes == 3


def test_edge_weights_follow_their_edges():
    data = make_data("toy", np.ones((5, 1)), np.array([[0, 3, 3], [1, 4, 2]]), np.zeros(5, np.int64))
    data.edge_weight = torch.arange(6.0)
    kept = largest_component(data)
    assert kept.original_index.tolist() == [2, 3, 4]
    assert kept.edge_weight.tolist() == [data.edge_weight[i] for i in range(6) if data.edge_index[0, i] in (2, 3, 4)]


def test_z_scores_of_a_large_sparse_matrix_are_refused(monkeypatch):
    monkeypatch.setattr("chebnet2d.preparation.transforms.DENSE_LIMIT", 1 << 10)
    data = csbm(nodes=100, degree=2, features=16)
    with pytest.raises(InputError, match=r"standardize: x must fit into 0 MiB as a dense matrix, got 100 x 16 sparse features"):
        standardize(sparse_of(data))
    assert standardize(data).x.shape == (100, 16)


def test_features_must_be_there():
    data = csbm(nodes=10, degree=1)
    data.x = None
    with pytest.raises(InputError, match=r"row_normalize_features: data.x must be an N x F tensor, got NoneType"):
        row_normalize_features(data)

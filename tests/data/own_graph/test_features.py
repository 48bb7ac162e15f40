"""Features of a user's graph, from every kind of file."""

from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
import torch

from graph_writers import read_raw, with_edges, write_rows


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_sparse_files_of_scipy(tmp_path: Path, layout: str) -> None:
    matrix = scipy.sparse.random_array((3, 7), density=0.4, rng=np.random.default_rng(0))
    scipy.sparse.save_npz(with_edges(tmp_path) / "features.npz", matrix.asformat(layout))
    x = read_raw(tmp_path).x
    assert x.layout == torch.sparse_csr
    np.testing.assert_array_equal(x.to_dense().numpy(), matrix.toarray().astype(np.float32))


def test_matrix_files_and_headless_tables_number_the_nodes(tmp_path: Path) -> None:
    x = np.array([[1.5, 2, 0], [3, 4, 0], [5, 6, 1]])
    np.save(with_edges(tmp_path) / "features.npy", x)
    np.savez(tmp_path / "other.npz", x=x)
    write_rows(tmp_path / "plain.csv", None, x.tolist())
    write_rows(tmp_path / "pandas.csv", ["0", "1", "2"], x.tolist())
    write_rows(tmp_path / "index.csv", ["", "0", "1", "2"], [[2, *x[2]], [0, *x[0]], [1, *x[1]]])
    for features in (None, "other.npz", "plain.csv", "pandas.csv", "index.csv"):
        data = read_raw(tmp_path, features=None if features is None else tmp_path / features)
        np.testing.assert_array_equal(data.x.numpy(), x.astype(np.float32))
        assert data.node_ids.tolist() == [0, 1, 2]


def test_words_become_categories_on_request(tmp_path: Path) -> None:
    (with_edges(tmp_path) / "features.csv").write_text("id,size,colour,seen\n0,1,red,true\n1,2,blue,false\n2,3,,true\n")
    data = read_raw(tmp_path, categorical="one-hot", missing_features="zero")
    assert data.feature_names == ["size", "colour=blue", "colour=red", "seen"]
    assert data.x.tolist() == [[1, 0, 1, 1], [2, 1, 0, 0], [3, 0, 0, 1]]
    assert read_raw(tmp_path, categorical="one-hot", missing_features="mean").x.tolist()[2] == [3, 0.5, 0.5, 1]
    assert read_raw(tmp_path, ignore=["colour"]).feature_names == ["size", "seen"]


def test_parquet_lists_are_vectors(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [2, 0, 1], "e": [[1.0, 2], None, [3, 4]]}), with_edges(tmp_path) / "features.parquet")
    data = read_raw(tmp_path, missing_features="mean")
    assert data.x.tolist() == [[2, 3], [3, 4], [1, 2]]
    assert data.feature_names == ["e[0]", "e[1]"]


def test_nodes_without_a_row_are_missing_values(tmp_path: Path) -> None:
    (with_edges(tmp_path) / "features.csv").write_text("id,f,g\n2,4,1\n0,2,\n")
    (tmp_path / "labels.csv").write_text("id,label\n9,b\n0,a\n")
    data = read_raw(tmp_path, missing_features="mean")
    assert data.node_ids.tolist() == [0, 1, 2, 9]
    assert data.x.tolist() == [[2, 1], [3, 1], [4, 1], [3, 1]]
    assert data.y.tolist() == [0, -1, -1, 1]
    assert read_raw(tmp_path, missing_features="zero").x.tolist() == [[2, 0], [0, 0], [4, 1], [0, 0]]


def test_features_from_the_graph_alone(tmp_path: Path) -> None:
    with_edges(tmp_path, "source,target\na,b\nb,a\nb,c\nd,d\n")
    degree = read_raw(tmp_path, features="degree")
    graph = nx.Graph([("a", "b"), ("b", "c")])
    assert degree.x.flatten().tolist() == [float(graph.degree[i]) if i in graph else 0.0 for i in degree.node_ids]
    identity = read_raw(tmp_path, features="identity").x
    assert identity.layout == torch.sparse_csr
    assert torch.equal(identity.to_dense(), torch.eye(4))


def test_a_nodes_table_gives_labels_where_its_features_are_not_wanted(tmp_path: Path) -> None:
    (with_edges(tmp_path) / "nodes.csv").write_text("id,colour,label\n0,red,x\n1,,\n7,1,y\n2,3,x\n")
    data = read_raw(tmp_path, features="degree")
    assert data.node_ids.tolist() == [0, 1, 2, 7]
    assert data.x.flatten().tolist() == [1, 2, 1, 0]
    assert data.y.tolist() == [0, -1, 0, 1]


def test_large_features_are_sparse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chebnet2d.data.own_graph.features.DENSE_LIMIT", 3 * 8 * 4 - 1)
    few, many = np.eye(3, 8), np.ones((3, 8))
    for x, layout in ((few, torch.sparse_csr), (many, torch.strided), (np.eye(3, 7), torch.strided)):
        np.save(with_edges(tmp_path) / "features.npy", x)
        found = read_raw(tmp_path).x
        assert found.layout == layout
        assert torch.equal(found.to_dense(), torch.from_numpy(x).float())

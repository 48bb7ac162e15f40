"""Tables in memory: what a file gives, a frame gives; predictions come back with the caller's ids."""

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
import torch
from torch_geometric.data import Data

import chebnet2d
from chebnet2d import InputError
from chebnet2d.data import from_networkx, from_pyg, from_scipy, from_tables, read_graph, to_networkx, to_scipy
from messy_tables import messy_edges, messy_graph, messy_rows

NODES, EDGES = pa.table({"id": [0, 1], "f": [1, 2]}), pa.table({"a": [0], "b": [1]})


class Stream:
    """Any library's table: nothing but the interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def frames(**options):
    nodes = pd.DataFrame(messy_rows(**options)).replace("", None)
    for column in ("age", "followers", "flag", "constant"):
        if column in nodes:
            nodes[column] = pd.to_numeric(nodes[column])
    return nodes, pd.DataFrame(messy_edges(options.get("nodes", 240), options.get("seed", 0)), columns=["source", "target"])


def test_a_frame_gives_what_a_file_gives(tmp_path):
    expected = read_graph(messy_graph(tmp_path / "g"))
    nodes, edges = frames()
    shuffled = nodes.sample(frac=1, random_state=0).assign(city=lambda frame: frame["city"].astype("category"))
    indexed = nodes.drop(columns="person_id").set_index(nodes["person_id"].to_numpy())
    streams = [Stream(pa.Table.from_pandas(frame, preserve_index=False)) for frame in (nodes, edges)]
    for tables in ((nodes, edges), (shuffled, edges), (indexed, edges), (pa.Table.from_pandas(nodes), edges), streams):
        data = from_tables(*tables)
        assert data.node_ids.tolist() == expected.node_ids.tolist()
        assert data.feature_names == expected.feature_names
        torch.testing.assert_close(data.x, expected.x)
        assert torch.equal(data.y, expected.y)
        assert torch.equal(data.edge_index, expected.edge_index)


def test_typed_columns_are_what_their_words_are():
    nodes, edges = frames()
    typed = nodes.assign(joined=pd.to_datetime(nodes["joined"]), seen=pd.to_datetime(nodes["seen"]).dt.tz_localize("UTC"))
    typed["member"] = nodes["member"].map({"yes": True, "no": False}).astype("boolean")
    torch.testing.assert_close(from_tables(typed, edges).x, from_tables(nodes, edges).x)


def test_predictions_come_back_as_a_frame(tmp_path):
    data = from_tables(*frames())
    model = chebnet2d.ChebNet2D(data.num_features, 3, hidden_channels=16, degree=3)
    chebnet2d.fit(model, data, chebnet2d.data.split(data, "stratified"), epochs=30)
    frame = chebnet2d.predict(model, from_tables(*frames(nodes=90, seed=1, later=True), id="person_id")).to_pandas()
    assert frame["node"].tolist() == [f"p{i:04d}" for i in range(90)]
    assert set(frame["label"]) <= {"tea", "coffee", "ünlü"}
    assert set(frame["part"]) == {"train", "val", "test"}
    assert "given_label" not in frame
    np.testing.assert_allclose(frame[[f"probability_{name}" for name in ("tea", "coffee", "ünlü")]].sum(axis=1), 1, atol=1e-5)


def test_a_split_column_is_no_feature():
    nodes, edges = frames()
    nodes["split"] = ["train", "valid", "Test", None] * 60
    data = from_tables(nodes, edges)
    assert not [name for name in data.feature_names if name.startswith("split")]
    assert chebnet2d.data.usual_split(data) == "fixed"
    assert chebnet2d.data.split(data, "fixed").sizes == {"train": 60, "val": 60, "test": 60}
    nodes["split"] = ["left", "right"] * 120
    assert "split=left" in from_tables(nodes, edges).feature_names, "other words are a category"
    nodes["cut"] = ["train", "val", "test"] * 80
    assert chebnet2d.data.split(from_tables(nodes, edges, split="cut"), "fixed").sizes["val"] == 80


@pytest.mark.parametrize(
    ("tables", "arguments", "sentence"),
    [
        ((5, None), {}, "from_tables: edges must be a table"),
        ((5, pa.table({"a": [0], "b": [1]})), {}, "from_tables: nodes must be a table"),
        ((NODES, pa.table({"a": [0]})), {}, "edges: an edge table must have at least two columns"),
        ((pa.table({"id": [0, 0], "f": [1, 2]}), EDGES), {}, r"nodes, row 1 \(from 0\): id must occur once"),
        ((None, EDGES), {}, "features must come from somewhere"),
        ((None, EDGES), {"features": "degre"}, "features must be one of 'degree', 'identity'"),
        ((NODES, EDGES), {"label": "y"}, "label must be one of its columns"),
    ],
)
def test_wrong_tables(tables, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        from_tables(*tables, **arguments)


def test_networkx_scipy_and_torch_geometric_in_and_out():
    nodes, edges = frames(nodes=60)
    data = from_tables(nodes, edges)
    graph = to_networkx(data)
    assert set(graph.nodes) == set(nodes["person_id"])
    back = from_networkx(graph)
    assert torch.equal(back.y, data.y)
    assert nx.utils.graphs_equal(to_networkx(back), graph)
    matrix = to_scipy(data)
    assert matrix.shape == (60, 60)
    x = np.random.default_rng(0).normal(3, 2, (60, 4))
    words = [data.class_names[c] if c >= 0 else None for c in data.y.tolist()]
    again = from_scipy(matrix, x, words, ids=data.node_ids)
    assert (to_scipy(again) != matrix).nnz == 0
    assert again.class_names == data.class_names
    assert torch.equal(again.y, data.y)
    np.testing.assert_allclose(again.x.mean(dim=0), 0, atol=1e-5)
    plain = Data(x=torch.from_numpy(x), edge_index=data.edge_index, y=data.y, train_mask=torch.ones(60, dtype=torch.bool))
    own = from_pyg(plain)
    torch.testing.assert_close(own.x, again.x)
    assert own.train_mask.all()
    assert torch.equal(from_pyg(plain, preprocess="none").x, plain.x.float())
    with pytest.raises(InputError, match="adjacency must be an N x N scipy.sparse matrix"):
        from_scipy(scipy.sparse.eye_array(3, 2), np.eye(3))

"""One test for each raw format, on small files in that format. torch_geometric's readers are the oracles where they exist.

Its reader of planetoid files wants more than 500 nodes: that comparison is among the tests on real files.
"""

import warnings

import numpy as np
import pytest
import torch
from torch_geometric.datasets import Amazon, HeterophilousGraphDataset, LINKXDataset

import raw_formats as raw
from chebnet2d import InputError
from chebnet2d.data import load, split
from common_form import assert_common_form

pytestmark = pytest.mark.usefixtures("own_cache")


def assert_equal(data, oracle):
    """Features, labels and edges of torch_geometric's own reader, made undirected as ours are."""
    torch.testing.assert_close(data.x.to_dense(), oracle.x.float())
    assert torch.equal(data.y, oracle.y)
    assert data.edge_index.tolist() == undirected(oracle.edge_index, data.num_nodes)


def undirected(edges, nodes):
    dense = np.zeros((nodes, nodes), dtype=bool)
    dense[edges[0], edges[1]] = True
    np.fill_diagonal(dense, False)
    return np.stack(np.nonzero(dense | dense.T)).tolist()


def from_pyg(maker, root, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return maker(str(root), name)[0]


def test_planetoid(root):
    written = raw.write_planetoid(root)
    data = load("cora", root)
    assert_common_form(data)
    torch.testing.assert_close(data.x, torch.from_numpy(written["x"]))
    assert data.y.tolist() == written["y"].tolist()
    assert data.edge_index.tolist() == undirected(written["edges"], raw.NODES)
    assert data.train_mask[:, 0].nonzero().flatten().tolist() == [0, 1, 2, 3]
    assert data.val_mask[:, 0].nonzero().flatten().tolist() == [4, 5, 6, 7, 8]
    assert set(data.test_mask[:, 0].nonzero().flatten().tolist()) == set(written["test"].tolist())


def test_planetoid_with_nodes_in_no_file(root):
    written = raw.write_planetoid(root, "CiteSeer", missing=(10, 12))
    data = load("citeseer", root, placeholder_labels=False)
    assert data.num_nodes == raw.NODES
    assert (data.y < 0).nonzero().flatten().tolist() == [10, 12]
    assert not data.x[[10, 12]].any()
    kept = [node for node in range(raw.NODES) if node not in (10, 12)]
    torch.testing.assert_close(data.x[kept], torch.from_numpy(written["x"][kept]))
    assert load("citeseer", root).y[[10, 12]].tolist() == [0, 0]


def test_planetoid_with_the_splits_of_geom_gcn(root):
    folder = raw.write_planetoid(root)["folder"]
    table = raw.masks(10)
    for s in range(10):
        np.savez(folder / f"cora_split_0.6_0.2_{s}.npz", **{f"{part}_mask": mask[s] for part, mask in table.items()})
    data = load("cora", root)
    made = split(data, "geom-gcn", seed=7)
    assert made.test.tolist() == np.flatnonzero(table["test"][7]).tolist()
    assert split(data, "fixed").train.tolist() == [0, 1, 2, 3]


def test_amazon(root):
    raw.write_amazon(root)
    data = load("photo", root)
    assert_common_form(data)
    assert data.class_names == ["lens", "film", "flash"]
    assert_equal(data, from_pyg(Amazon, root / "amazon", "Photo"))


def test_amazon_with_names_as_objects(root):
    """The original files hold some texts as pickles: they are left where they are."""
    path = raw.write_amazon(root)["path"]
    arrays = dict(np.load(path))
    arrays["class_names"] = np.array(["lens", "film", "flash"], dtype=object)
    np.savez(path, **arrays)
    data = load("photo", root)
    assert "class_names" not in data
    assert data.num_nodes == raw.NODES


def test_heterophilous(root):
    written = raw.write_heterophilous(root)
    data = load("roman-empire", root)
    assert_common_form(data)
    oracle = from_pyg(HeterophilousGraphDataset, root / "heterophilous", "Roman-empire")
    assert_equal(data, oracle)
    for part in ("train", "val", "test"):
        assert torch.equal(data[f"{part}_mask"], oracle[f"{part}_mask"])
        assert split(data, "fixed", seed=1).parts[part].tolist() == np.flatnonzero(written["masks"][part][1]).tolist()


def test_facebook100_with_its_fixed_splits(root):
    written = raw.write_facebook100(root)
    data = load("penn94", root)
    assert_common_form(data)
    oracle = from_pyg(LINKXDataset, root / "linkx", "penn94")
    assert_equal(data, oracle)
    assert data.y.tolist() == (written["info"][:, 1].astype(int) - 1).tolist()
    assert int((data.y < 0).sum()) == 5
    assert torch.equal(data.train_mask, oracle.train_mask)
    made = split(data, "fixed", seed=1)
    assert made.test.tolist() == [node for node in written["splits"][1]["test"].tolist() if data.y[node] >= 0]


def test_facebook100_without_splits(root):
    folder = raw.write_facebook100(root)["folder"]
    (folder / "fb100-Penn94-splits.npy").unlink()
    data = load("penn94", root)
    with pytest.raises(InputError, match=r"split: kind 'fixed' must have masks in penn94, got none."):
        split(data, "fixed")


def test_genius(root):
    written = raw.write_genius(root)
    data = load("genius", root)
    assert_common_form(data)
    assert data.metric == "roc_auc"
    assert_equal(data, from_pyg(LINKXDataset, root / "linkx", "genius"))
    assert split(data, "fixed", seed=1).val.tolist() == written["splits"][1]["valid"].tolist()


def test_twitch_gamers(root):
    written = raw.write_twitch(root)
    data = load("twitch-gamers", root)
    assert_common_form(data)
    rows = {row[5]: dict(zip(raw.TWITCH_COLUMNS, row, strict=True)) for row in written["rows"]}
    assert data.y.tolist() == [rows[node]["mature"] for node in range(raw.NODES)]
    assert data.edge_index.tolist() == undirected(written["edges"], raw.NODES)
    languages = list(dict.fromkeys(row[7] for row in written["rows"]))  # numbered in order of appearance
    names = ("views", "life_time", "created_at", "updated_at", "dead_account", "language", "affiliate")
    for column, name in enumerate(names):
        values = [rows[node][name] for node in range(raw.NODES)]
        if name.endswith("_at"):
            values = [int(value.replace("-", "")) for value in values]
        if name == "language":
            values = [languages.index(value) for value in values]
        numbers = np.array(values, dtype=float)
        expected = (numbers - numbers.mean()) / numbers.std(ddof=1)
        np.testing.assert_allclose(data.x[:, column].numpy(), expected, rtol=1e-5, atol=1e-6)
    assert split(data, "fixed", seed=0).train.tolist() == written["splits"][0]["train"].tolist()


@pytest.mark.parametrize(
    ("name", "folder", "kind"), [("ogbn-arxiv", "ogbn_arxiv", "time"), ("ogbn-products", "ogbn_products", "sales_ranking")]
)
def test_ogb(root, name, folder, kind):
    written = raw.write_ogb(root, folder, kind)
    data = load(name, root)
    assert_common_form(data)
    torch.testing.assert_close(data.x, torch.from_numpy(written["x"]))
    assert data.y.tolist() == written["y"].tolist()
    assert data.edge_index.tolist() == undirected(written["edges"], raw.NODES)
    for part, index in split(data, "fixed", seed=4).parts.items():
        assert index.tolist() == written["parts"][part].tolist()
    assert data.num_classes == {"ogbn-arxiv": 40, "ogbn-products": 47}[name]

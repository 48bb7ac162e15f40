"""One test for each raw format, on small files in that format. torch_geometric's readers are the oracles where they exist.

Its reader of planetoid files wants more than 500 nodes: that comparison is among the tests on real files.
"""

import os
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.datasets import Amazon, HeterophilousGraphDataset, LINKXDataset

import raw_formats as raw
from chebnet2d import InputError
from chebnet2d.data import available, dataset_digest, load, split
from chebnet2d.data.readers.unpickler import RefusedPickle, load_arrays
from test_data_embedded import assert_common_form


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CHEBNET2D_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def root(tmp_path):
    return tmp_path / "root"


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
    with pytest.raises(InputError, match=r"split: protocol 'fixed' must have masks in penn94, got none."):
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


WRITERS = {
    "cora": raw.write_planetoid,
    "photo": raw.write_amazon,
    "roman-empire": raw.write_heterophilous,
    "penn94": raw.write_facebook100,
    "genius": raw.write_genius,
    "twitch-gamers": raw.write_twitch,
    "ogbn-arxiv": raw.write_ogb,
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_cache_gives_the_same_data_and_the_root_stays_as_it_is(name, root, tmp_path, monkeypatch):
    WRITERS[name](root)
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    first = load(name, root)
    stored = list((tmp_path / "cache" / "processed").iterdir())
    assert len(stored) == 1
    assert stored[0].suffix == ".safetensors"
    monkeypatch.setattr("chebnet2d.data.loading.READERS", {})  # a reader would be missed now
    again = load(name, root)
    assert dataset_digest(first) == dataset_digest(again)
    assert first.to_dict().keys() == again.to_dict().keys()
    assert all(torch.equal(first[key], again[key]) for key in first.keys() if key.endswith("_mask"))  # noqa: SIM118
    assert (first.name, first.metric, first.num_classes) == (again.name, again.metric, again.num_classes)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
    assert available(root) == [name]


def test_sparse_features_pass_through_the_cache(root, monkeypatch):
    raw.write_facebook100(root)
    monkeypatch.setattr("chebnet2d.data.dataset.DENSE_LIMIT", 10)
    first = load("penn94", root)
    assert first.x.layout == torch.sparse_csr
    monkeypatch.setattr("chebnet2d.data.loading.READERS", {})
    again = load("penn94", root)
    assert again.x.layout == torch.sparse_csr
    assert dataset_digest(first) == dataset_digest(again)


def test_changed_files_are_read_again(root):
    path = raw.write_heterophilous(root)["path"]
    before = load("roman-empire", root)
    arrays = dict(np.load(path))
    arrays["node_features"] = arrays["node_features"] + 1
    np.savez(path, **arrays)
    os.utime(path, ns=(5, 5))
    torch.testing.assert_close(load("roman-empire", root).x, before.x + 1)


@pytest.mark.parametrize("content", [b"", b"not a safetensors file at all", b"\x10\0\0\0\0\0\0\0{}              "])
def test_a_broken_cache_file_is_read_over(root, tmp_path, content):
    raw.write_heterophilous(root)
    before = load("roman-empire", root)
    stored = next((tmp_path / "cache" / "processed").iterdir())
    stored.write_bytes(content)
    assert dataset_digest(load("roman-empire", root)) == dataset_digest(before)
    assert stored.stat().st_size > 1000


def test_without_a_writable_cache_everything_works(root, tmp_path, monkeypatch, caplog):
    raw.write_heterophilous(root)
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("CHEBNET2D_CACHE", str(blocked))
    assert load("roman-empire", root).num_nodes == raw.NODES
    assert "cache folder not writable" in caplog.text


def test_the_root_may_come_from_the_environment(root, monkeypatch, tmp_path):
    raw.write_heterophilous(root)
    monkeypatch.setenv("CHEBNET2D_DATA", str(root))
    assert load("Roman_Empire").num_nodes == raw.NODES
    monkeypatch.delenv("CHEBNET2D_DATA")
    with pytest.raises(InputError, match=r"roman-empire must be below the data root .*cache.data, got no file"):
        load("roman-empire")


# ---- hostile pickles -------------------------------------------------------------------------------------------


class Call:
    """Pickles as the call ``function(*arguments)``."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def hostile(marker):
    command = f"touch {marker}"
    return {
        "os.system": pickle.dumps(Call(os.system, command), protocol=2),
        "eval": pickle.dumps(Call(eval, f"open({str(marker)!r}, 'w')"), protocol=2),
        "protocol 0": b"cos\nsystem\n(S'" + command.encode() + b"'\ntR.",
        "stack global": pickle.dumps(Call(os.system, command), protocol=4),
        "nested": pickle.dumps([np.zeros(3), {"a": Call(os.system, command)}], protocol=2),
        "inside an object array": pickle.dumps(np.array([Call(os.system, command)], dtype=object), protocol=2),
        "attribute of an admitted module": pickle.dumps(Call(scipy.sparse.load_npz, "x.npz"), protocol=2),
        "numpy.load": pickle.dumps(Call(np.load, "x.npy"), protocol=2),
        "dotted name": b"\x80\x04\x8c\x05numpy\x8c\x0fdtype.__class__\x93.",
        "default factory": b"ccollections\ndefaultdict\n(cos\ngetcwd\ntR.",
        "persistent": b"Pos\n.",
    }


@pytest.mark.parametrize("case", hostile("x"))
@pytest.mark.parametrize("part", ["x", "graph"])
def test_a_hostile_pickle_does_not_run(root, tmp_path, case, part):
    folder = raw.write_planetoid(root)["folder"]
    marker = tmp_path / "marker"
    (folder / f"ind.cora.{part}").write_bytes(hostile(marker)[case])
    with pytest.raises(InputError, match=rf"load: .*ind.cora.{part} must be .*got RefusedPickle: "):
        load("cora", root)
    assert not marker.exists()
    assert not (tmp_path / "cache").exists()


def test_a_hostile_split_file_does_not_run(root, tmp_path):
    folder = raw.write_facebook100(root)["folder"]
    marker = tmp_path / "marker"
    np.save(folder / "fb100-Penn94-splits.npy", np.array([Call(os.system, f"touch {marker}")], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"fb100-Penn94-splits.npy must be .*got RefusedPickle: the name posix.system"):
        load("penn94", root)
    assert not marker.exists()


def test_a_hostile_object_array_in_an_archive_does_not_run(root, tmp_path):
    path = raw.write_heterophilous(root)["path"]
    arrays = dict(np.load(path))
    marker = tmp_path / "marker"
    arrays["node_labels"] = np.array([Call(os.system, f"touch {marker}")] * raw.NODES, dtype=object)
    np.savez(path, **arrays)
    with pytest.raises(InputError, match="must be a numpy archive of plain arrays, got ValueError"):
        load("roman-empire", root)
    assert not marker.exists()


@pytest.mark.parametrize("protocol", [0, 2, 3, 4])
def test_admitted_pickles_come_out_as_they_went_in(protocol):
    matrix = scipy.sparse.csr_matrix(np.eye(3, 4, dtype=np.float32))
    for array in (
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.random.default_rng(0).random((3, 2))),
        np.array([True, False]),
    ):
        if protocol >= 2:
            found = load_arrays(pickle.dumps(array, protocol=protocol))
            assert found.dtype == array.dtype
            np.testing.assert_array_equal(found, array)
    assert load_arrays(pickle.dumps({1: [2, 3], "a": None}, protocol=protocol)) == {1: [2, 3], "a": None}
    if protocol >= 2:
        np.testing.assert_array_equal(load_arrays(pickle.dumps(matrix, protocol=protocol)).toarray(), matrix.toarray())
        big = np.arange(3, dtype=">i4")
        np.testing.assert_array_equal(load_arrays(pickle.dumps(big, protocol=protocol)), big)


def test_indices_outside_of_a_matrix_are_refused():
    matrix = scipy.sparse.csr_matrix(np.eye(3))
    matrix.indices = np.array([0, 1, 99], dtype=np.int32)
    with pytest.raises(ValueError, match="99|indices"):
        load_arrays(pickle.dumps(matrix, protocol=2))


def test_texts_as_arrays_are_refused():
    with pytest.raises(RefusedPickle, match="an array of type 'U"):
        load_arrays(pickle.dumps(np.array(["a", "b"]), protocol=2))

"""The cache of read datasets: the same data, and nothing in the root."""

import os

import numpy as np
import pytest
import torch

import raw_formats as raw
from chebnet2d import InputError
from chebnet2d.data import available, dataset_digest, load

pytestmark = pytest.mark.usefixtures("own_cache")
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
    monkeypatch.setattr("chebnet2d.data.loading.RAW_FORMATS", {})  # a reader would be missed now
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
    monkeypatch.setattr("chebnet2d.data.loading.RAW_FORMATS", {})
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

"""The real files: counts, oracles of torch_geometric, the cache, and the commands. Skipped where there is no data root."""

import json
import os
import shutil
import time
import warnings

import numpy as np
import pytest
import torch
from torch_geometric.datasets import Amazon, HeterophilousGraphDataset, LINKXDataset, Planetoid
from torch_geometric.transforms import NormalizeFeatures
from typer.testing import CliRunner

from chebnet2d.cli import app
from chebnet2d.data import CATALOGUE, check, dataset_digest, load, row_normalize_features, split
from common_form import assert_common_form
from data_root import find_data_root, real_data_root

ELEVEN = "cora citeseer pubmed computers photo chameleon squirrel actor texas cornell tolokers".split()  # noqa: SIM905
runner = CliRunner()


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHEBNET2D_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("CHEBNET2D_DATA", str(find_data_root() or "nowhere"))
        yield


def snapshot(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.digest])
def test_the_files_have_the_counts_of_the_catalogue_and_of_the_paper(name):
    folder = real_data_root() / CATALOGUE[name].folder
    before = snapshot(folder)
    result = check(name)
    assert result.mismatches == ()
    assert result.departures == (("classes: the paper has 5, the files have 3",) if name == "pubmed" else ())
    assert snapshot(folder) == before  # nothing is written beside the raw files
    start = time.perf_counter()
    data = load(name)
    assert time.perf_counter() - start < 5
    assert_common_form(data)
    assert data.name == name
    assert dataset_digest(data) == CATALOGUE[name].digest
    assert data.metric == ("roc_auc" if name in ("tolokers", "minesweeper") else "accuracy")


def pyg_copy(name, tmp_path):
    """The same files through torch_geometric's own reader, on a copy: it writes beside them."""
    entry = CATALOGUE[name]
    family = entry.folder.split("/")[0]
    shutil.copytree(real_data_root() / entry.folder, tmp_path / entry.folder)
    maker = {"planetoid": Planetoid, "amazon": Amazon, "heterophilous": HeterophilousGraphDataset, "linkx": LINKXDataset}[family]
    key = entry.title if family in ("planetoid", "amazon") else entry.name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return maker(str(tmp_path / family), key)[0]


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "photo", "tolokers", "reed98"])
def test_tensors_equal_those_of_torch_geometric(name, tmp_path):
    oracle, data = pyg_copy(name, tmp_path), load(name)
    torch.testing.assert_close(data.x, oracle.x.float(), atol=0, rtol=0)
    assert torch.equal(data.y, oracle.y)
    assert torch.equal(data.edge_index, oracle.coalesce().edge_index)
    if "train_mask" in oracle:
        for part in ("train", "val", "test"):
            assert torch.equal(data[f"{part}_mask"], oracle[f"{part}_mask"].reshape(data.num_nodes, -1))


@pytest.mark.parametrize("name", ["cora", "photo"])
def test_row_normalisation_is_that_of_torch_geometric(name):
    real_data_root()
    data = load(name)
    torch.testing.assert_close(row_normalize_features(data).x, NormalizeFeatures()(data.clone()).x)


def test_citeseers_nodes_without_a_label_can_stay_without():
    real_data_root()
    usual, honest = load("citeseer"), load("citeseer", placeholder_labels=False)
    missing = (honest.y < 0).nonzero().flatten()
    assert missing.numel() == 15
    assert (usual.y[missing] == 0).all()
    assert not usual.x[missing].any()
    assert sum(split(honest, "uniform").sizes.values()) == 3327 - 15
    assert not any(np.isin(missing, part).any() for part in split(honest, "balanced").parts.values())


def test_fixed_splits_of_the_files():
    real_data_root()
    assert split(load("cora"), "fixed").sizes == {"train": 140, "val": 500, "test": 1000}
    assert split(load("tolokers"), "fixed", seed=9).sizes == {"train": 5879, "val": 2939, "test": 2940}
    assert len({split(load("actor"), "fixed", seed=seed).digest for seed in range(10)}) == 10


def test_unlabelled_nodes_of_facebook_are_in_no_split():
    real_data_root()
    data = load("reed98")
    assert int((data.y < 0).sum()) == 97
    for kind in ("uniform", "uniform-50", "balanced", "balanced-torch", "per-class"):
        options = {"val": 100, "test": None} if kind == "per-class" else {}
        made = split(data, kind, seed=1, **options)
        assert sum(made.sizes.values()) == 962 - 97
        assert all((data.y[part] >= 0).all() for part in made.parts.values())


def test_a_loaded_dataset_may_be_changed_without_changing_the_cache():
    real_data_root()
    for _ in range(2):
        data = load("texas")
        assert dataset_digest(data) == CATALOGUE["texas"].digest
        data.x.zero_()
        data.y.fill_(0)


def test_check_command_exits_with_1_on_other_files(tmp_path):
    root = real_data_root()
    shutil.copytree(root / "heterophilous" / "texas", tmp_path / "heterophilous" / "texas")
    right = runner.invoke(app, ["data", "check", "texas", "--data-root", str(tmp_path)])
    assert right.exit_code == 0
    assert "as in the catalogue" in right.output
    path = tmp_path / "heterophilous" / "texas" / "raw" / "texas.npz"
    arrays = dict(np.load(path))
    arrays["edges"] = arrays["edges"][1:]
    path.chmod(0o644)
    np.savez(path, **arrays)
    wrong = runner.invoke(app, ["data", "check", "texas", "--data-root", str(tmp_path), "--json"])
    assert wrong.exit_code == 1
    answer = json.loads(wrong.stdout)
    assert "edges: the catalogue has 279, the files have 278" in answer["mismatches"]
    assert not answer["ok"]


def test_other_contents_with_the_same_counts_are_seen(tmp_path):
    root = real_data_root()
    shutil.copytree(root / "heterophilous" / "texas", tmp_path / "heterophilous" / "texas")
    path = tmp_path / "heterophilous" / "texas" / "raw" / "texas.npz"
    arrays = dict(np.load(path))
    arrays["node_features"] = np.roll(arrays["node_features"], 1, axis=1)
    path.chmod(0o644)
    np.savez(path, **arrays)
    os.utime(path, ns=(1, 1))
    assert "same counts, other contents" in check("texas", tmp_path).mismatches[0]


def test_splits_command_shows_the_consequences():
    real_data_root()
    answer = runner.invoke(app, ["data", "splits", "cora", "--kind", "balanced", "--json"])
    report = json.loads(answer.stdout)["splits"][0]
    assert report["sizes"] == {"train": 1557, "val": 542, "test": 609}
    assert report["class_counts"]["test"][1] == report["class_counts"]["test"][6] == 0
    text = runner.invoke(app, ["data", "splits", "cora"]).output
    assert "test has no node of classes 1 and 6" in text
    assert "geom-gcn: kind 'geom-gcn' must have masks in cora, got none." in text

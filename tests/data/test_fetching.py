"""Fetching whole datasets, from a server on this machine: verified, whole or not at all."""

import json
from dataclasses import replace

import numpy as np
import pytest
from torch_geometric.datasets import HeterophilousGraphDataset, LINKXDataset, Planetoid
from typer.testing import CliRunner

import raw_formats as raw
from chebnet2d import InputError
from chebnet2d.cli import app
from chebnet2d.data import CATALOGUE, Statistics, fetch, load, split, statistics
from chebnet2d.data.generated import generate
from chebnet2d.data.raw_formats import RAW_FORMATS

ALL_NAMES = list(CATALOGUE)


def sources_of(entry):
    return RAW_FORMATS[entry.format].sources(entry)


@pytest.fixture
def roman(site, tmp_path, monkeypatch):
    """Roman-empire of 14 nodes: on the server and in the catalogue."""
    monkeypatch.setenv("CHEBNET2D_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(HeterophilousGraphDataset, "url", site.url)
    path = raw.write_heterophilous(tmp_path / "origin")["path"]
    site.files["roman_empire.npz"] = path.read_bytes()
    counts = statistics(load("roman-empire", tmp_path / "origin"))
    monkeypatch.setitem(CATALOGUE, "roman-empire", replace(CATALOGUE["roman-empire"], statistics=counts))
    return tmp_path / "root"


def test_fetch_puts_verified_files_in_their_place(site, roman):
    folder = fetch("roman-empire", roman)
    assert folder == roman / "heterophilous" / "roman_empire" / "raw"
    assert [path.name for path in folder.iterdir()] == ["roman_empire.npz"]
    assert [path.name for path in roman.iterdir()] == ["heterophilous"]
    assert load("roman-empire", roman).num_nodes == raw.NODES
    fetch("roman-empire", roman)
    assert len(site.asked) == 1  # the files are there and right
    fetch("roman-empire", roman, force=True)
    assert len(site.asked) == 2


def test_wrong_counts_leave_nothing_behind(roman, monkeypatch):
    wrong = replace(CATALOGUE["roman-empire"], statistics=Statistics(nodes=15))
    monkeypatch.setitem(CATALOGUE, "roman-empire", wrong)
    with pytest.raises(InputError, match=r"nodes: the catalogue has 15, the files have 14. Nothing was kept."):
        fetch("roman-empire", roman)
    assert list(roman.iterdir()) == []


def test_an_error_page_instead_of_data_leaves_nothing_behind(site, roman):
    site.files["roman_empire.npz"] = b"<html>please log in</html>"
    with pytest.raises(InputError, match=r"roman-empire must have .*must be a numpy archive of plain arrays.*Nothing was kept."):
        fetch("roman-empire", roman)
    assert list(roman.iterdir()) == []


def test_an_interrupted_fetch_continues_and_shows_no_half_dataset(site, roman):
    site.cut_after = 500
    with pytest.raises(InputError, match="must be reachable"):
        fetch("roman-empire", roman)
    assert not (roman / "heterophilous").exists()
    with pytest.raises(InputError, match="got no file"):
        load("roman-empire", roman)
    site.cut_after = None
    fetch("roman-empire", roman)
    assert site.asked[-1][1] == "bytes=1500-"  # three attempts of 500 bytes
    assert load("roman-empire", roman).num_nodes == raw.NODES
    assert [path.name for path in roman.iterdir()] == ["heterophilous"]


def test_wrong_files_in_place_are_named_and_replaced_by_force(roman, tmp_path):
    fetch("roman-empire", roman)
    path = roman / "heterophilous" / "roman_empire" / "raw" / "roman_empire.npz"
    arrays = dict(np.load(path))
    np.savez(path, **(arrays | {"edges": arrays["edges"][:3]}))
    with pytest.raises(InputError, match=r"fetch: the files in .* must have the catalogue's counts, got edges.* by force="):
        fetch("roman-empire", roman)
    fetch("roman-empire", roman, force=True)
    assert statistics(load("roman-empire", roman)) == CATALOGUE["roman-empire"].statistics


def test_a_root_that_cannot_be_written_to(roman, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file")
    with pytest.raises(InputError, match=r"fetch: the data root .*blocked must be a folder that can be written to, got"):
        fetch("roman-empire", blocked)


def test_two_fetches_at_once_are_refused(roman):
    fcntl = pytest.importorskip("fcntl")
    (roman / ".fetch").mkdir(parents=True)
    with (roman / ".fetch" / "roman-empire.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="must be fetched by one process at a time, got another one at work"):
            fetch("roman-empire", roman)
    fetch("roman-empire", roman)


@pytest.fixture
def twitch(site, tmp_path, monkeypatch):
    monkeypatch.setenv("CHEBNET2D_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("chebnet2d.data.raw_formats.twitch_gamers.URL", f"{site.url}/twitch_gamers.zip")
    monkeypatch.setattr(LINKXDataset, "github_url", site.url)
    folder = raw.write_twitch(tmp_path / "origin")["folder"]
    counts = statistics(load("twitch-gamers", tmp_path / "origin"))
    monkeypatch.setitem(CATALOGUE, "twitch-gamers", replace(CATALOGUE["twitch-gamers"], statistics=counts))
    site.files["splits/twitch-gamer-splits.npy"] = (folder / "twitch-gamer-splits.npy").read_bytes()
    (folder / "twitch-gamer-splits.npy").unlink()
    (folder / "README.txt").write_text("not wanted")
    site.files["twitch_gamers.zip"] = raw.zipped(folder, tmp_path / "t.zip", "twitch_gamers/").read_bytes()
    return tmp_path / "root"


def test_fetch_from_an_archive_with_optional_splits(twitch):
    folder = fetch("gamers", twitch)
    assert sorted(path.name for path in folder.iterdir()) == [
        "large_twitch_edges.csv",
        "large_twitch_features.csv",
        "twitch-gamer-splits.npy",
    ]
    assert split(load("twitch-gamers", twitch), "fixed", seed=1).train.numel() > 0


def test_optional_files_may_be_missing_required_ones_may_not(site, twitch):
    del site.files["splits/twitch-gamer-splits.npy"]
    assert len(list(fetch("twitch-gamers", twitch).iterdir())) == 2
    del site.files["twitch_gamers.zip"]
    with pytest.raises(InputError, match=r"must be a file that exists, got HTTP 404. Known trouble of twitch-gamers: dead links"):
        fetch("twitch-gamers", twitch, force=True)


def test_nothing_of_a_generated_graph_stays_beside_the_dataset(site, twitch):
    generate("twitch-gamers", twitch, scale=0.002)
    del site.files["splits/twitch-gamer-splits.npy"]
    folder = fetch("twitch-gamers", twitch, force=True)
    assert sorted(path.name for path in folder.iterdir()) == ["large_twitch_edges.csv", "large_twitch_features.csv"]
    assert load("twitch-gamers", twitch).name == "twitch-gamers"


@pytest.mark.parametrize("damage", [lambda data: data[:-200], lambda data: b"nonsense"])
def test_a_broken_archive_leaves_nothing_behind(site, twitch, damage):
    site.files["twitch_gamers.zip"] = damage(site.files["twitch_gamers.zip"])
    with pytest.raises(InputError, match=r"twitch_gamers.zip .*must be a whole zip archive, got .*Nothing was kept"):
        fetch("twitch-gamers", twitch)
    assert list(twitch.iterdir()) == []


def test_fetch_of_ogb_takes_what_it_needs_from_the_archive(site, tmp_path, monkeypatch):
    monkeypatch.setenv("CHEBNET2D_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("chebnet2d.data.raw_formats.ogb.URL", site.url + "/{}.zip")
    folder = raw.write_ogb(tmp_path / "origin")["folder"]
    counts = statistics(load("ogbn-arxiv", tmp_path / "origin"))
    monkeypatch.setitem(CATALOGUE, "ogbn-arxiv", replace(CATALOGUE["ogbn-arxiv"], statistics=counts))
    site.files["arxiv.zip"] = raw.zipped(folder, tmp_path / "a.zip", "arxiv/").read_bytes()
    fetch("ogbn-arxiv", tmp_path / "root")
    assert split(load("arxiv", tmp_path / "root"), "fixed").sizes["train"] == 8


def test_the_address_of_ogb_comes_from_its_package_if_installed(tmp_path, monkeypatch):
    package = tmp_path / "ogb"
    (package / "nodeproppred").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('never imported')")
    table = ",ogbn-products,ogbn-arxiv\nversion,1,2\nurl,https://example.org/p.zip,https://example.org/a2.zip\n"
    (package / "nodeproppred" / "master.csv").write_text(table)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert sources_of(CATALOGUE["ogbn-arxiv"])[0].url == "https://example.org/a2.zip"


@pytest.mark.parametrize("name", ALL_NAMES)
def test_every_dataset_has_an_address_for_every_file(name):
    entry = CATALOGUE[name]
    found = sources_of(entry)
    assert all(source.url.startswith("https://") for source in found)
    if not any(source.archive for source in found):
        assert {source.file for source in found} == {*entry.files, *entry.optional}
        assert {source.file for source in found if source.optional} == set(entry.optional)


def test_addresses_are_those_of_torch_geometric():
    assert sources_of(CATALOGUE["cora"])[0].url == f"{Planetoid.url}/ind.cora.x"
    penn = sources_of(CATALOGUE["penn94"])
    assert penn[0].url == LINKXDataset.datasets["penn94"]["data.mat"]
    assert penn[1].url == LINKXDataset.splits["penn94"]


def test_fetch_command(roman):
    answer = CliRunner().invoke(app, ["data", "fetch", "roman-empire", "--data-root", str(roman), "--json"])
    assert answer.exit_code == 0
    assert json.loads(answer.stdout)["ok"] is True
    with pytest.raises(InputError, match="fetch: name must be a dataset with files, got 'digits', which is embedded"):
        fetch("digits")

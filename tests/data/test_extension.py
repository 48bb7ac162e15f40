"""A split kind, a raw format and a dataset that are defined here, outside of the package."""

import numpy as np
import pytest
import torch

from chebnet2d import InputError
from chebnet2d.data import (
    CATALOGUE,
    RAW_FORMATS,
    SPLIT_KINDS,
    Entry,
    Source,
    Statistics,
    check,
    csbm,
    fetch,
    labelled_nodes,
    load,
    make_data,
    make_split,
    raw_format,
    split,
    split_kind,
    split_report,
)

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(autouse=True)
def own_registries(monkeypatch):
    for registry in (SPLIT_KINDS, RAW_FORMATS):
        monkeypatch.setattr(registry, "_known", dict(registry))


@pytest.fixture
def text_format(root, monkeypatch):
    """A path of N nodes, whose numbers alternate between two classes, in a file with N in it."""

    @raw_format("text")
    def read(folder, entry):
        nodes = int((folder / entry.files[0]).read_text())
        pairs = np.stack([np.arange(nodes - 1), np.arange(1, nodes)])
        return make_data(entry.name, np.eye(nodes), pairs, np.arange(nodes) % 2, metric=entry.metric)

    counts = Statistics(nodes=6, edges=5, features=6, classes=2, homophily=0.0)
    entry = Entry("path", "Path", "text", "text/path", ("nodes.txt",), statistics=counts)
    monkeypatch.setitem(CATALOGUE, "path", entry)
    (root / "text" / "path").mkdir(parents=True)
    (root / "text" / "path" / "nodes.txt").write_text("6")
    return root


def test_a_split_kind_is_one_function():
    @split_kind("first")
    def first(data, seed, *, train=2):
        """The first labelled nodes to train, one to validate, the rest to test."""
        known, _ = labelled_nodes(data)
        return make_split("first", seed, known[:train], known[train : train + 1], known[train + 1 :])

    data = csbm(nodes=20, degree=4, seed=1)
    made = split(data, "first", seed=3, train=4)
    assert (made.name, made.seed, made.sizes) == ("first", 3, {"train": 4, "val": 1, "test": 15})
    assert made.train.tolist() == [0, 1, 2, 3]
    assert split_report(made, data)["sizes"] == made.sizes
    with pytest.raises(InputError, match="options of kind 'first' must be train, got 'val'"):
        split(data, "first", val=3)


def test_a_name_is_taken_once():
    with pytest.raises(InputError, match="split_kind: name must be new, got 'uniform'"):
        split_kind("uniform")(lambda data, seed: None)
    with pytest.raises(InputError, match="raw_format: name must be new, got 'ogb'"):
        raw_format("ogb")(lambda folder, entry: None)
    with pytest.raises(InputError, match="split: kind must be one of .* Did you mean 'uniform'"):
        split([0, 1], "unifrom")


def test_a_raw_format_and_an_entry_make_a_dataset(text_format):
    data = load("path", text_format)
    assert data.edge_index.tolist() == [[0, 1, 1, 2, 2, 3, 3, 4, 4, 5], [1, 0, 2, 1, 3, 2, 4, 3, 5, 4]]
    assert data.y.tolist() == [0, 1, 0, 1, 0, 1]
    assert torch.equal(load("path", text_format).x, data.x), "from the cache"
    assert check("path", text_format).ok
    (text_format / "text" / "path" / "nodes.txt").write_text("7")
    assert check("path", text_format).mismatches[0] == "nodes: the catalogue has 6, the files have 7"


def test_a_format_without_addresses_says_where_files_go(text_format):
    with pytest.raises(InputError, match="path must be a dataset with known addresses, got none. Put its files into text/path"):
        fetch("path", text_format / "elsewhere")
    assert fetch("path", text_format) == text_format / "text" / "path"


def test_a_format_with_addresses_is_fetched(site, root, text_format, monkeypatch):
    read = RAW_FORMATS["text"].read
    monkeypatch.setattr(RAW_FORMATS, "_known", {})
    raw_format("text", lambda entry: [Source(f"{site.url}/{file}", file) for file in entry.files])(read)
    site.files["nodes.txt"] = b"6"
    assert fetch("path", root / "elsewhere").joinpath("nodes.txt").read_text() == "6"

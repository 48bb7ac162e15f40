"""Generated graphs go through the loaders of the originals and have the counts they promise."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from chebnet2d import InputError
from chebnet2d.bases import precompute
from chebnet2d.data import CATALOGUE, check, fetch, load, split, statistics
from chebnet2d.data.generated import LIKE, generate, shape_of
from chebnet2d.reports import make_tables
from chebnet2d.search import search
from chebnet2d.study import Protocol, Store, run_study
from chebnet2d.training import stored_split
from cli_runner import run

pytestmark = pytest.mark.usefixtures("own_cache")
SCALES = {"ogbn-arxiv": 0.01, "ogbn-products": 0.001, "penn94": 0.02, "genius": 0.004, "twitch-gamers": 0.01}
SCALES |= {"roman-empire": 0.05, "amazon-ratings": 0.05}


@pytest.mark.parametrize("model", ["power-law", "csbm"])
@pytest.mark.parametrize("like", LIKE)
def test_counts_are_those_promised(tmp_path, like, model):
    folder = generate(like, tmp_path, scale=SCALES[like], model=model, seed=1)
    shape = shape_of(like, SCALES[like])
    data = load(like, tmp_path)
    found = statistics(data)
    assert (found.nodes, found.edges, found.features, found.classes) == (
        shape.nodes,
        shape.edges,
        shape.features,
        shape.classes,
    )
    assert found.homophily == pytest.approx(shape.homophily, abs=0.02 if shape.unlabelled else 1e-3)
    assert data.metric == CATALOGUE[like].metric
    assert json.loads((folder / "generated.json").read_text())["model"] == model
    chosen = split(data, "fixed", seed=0)
    labelled = int((data.y >= 0).sum())
    sizes = np.array([chosen.train.numel(), chosen.val.numel(), chosen.test.numel()])
    np.testing.assert_allclose(sizes, labelled * np.array(shape.parts), atol=1.01)
    assert data.train_mask.shape[1] == shape.splits
    assert (labelled < shape.nodes) == (like == "penn94")


class TestNotTheDataset:
    """A generated graph lies where the original would; nothing that is printed about it may look like the original's."""

    @pytest.fixture
    def root(self, tmp_path):
        generate("ogbn-arxiv", tmp_path / "root", scale=0.005)
        return tmp_path / "root"

    def test_data_says_so(self, root):
        for _ in range(2):  # from the files, then from the cache
            data = load("ogbn-arxiv", root)
            assert data.generated is True
            assert data.name == "ogbn-arxiv (generated)"
        assert load("csbm", nodes=30).get("generated") is None
        (root / "ogb/ogbn_arxiv/generated.json").unlink()
        assert load("ogbn-arxiv", root).get("generated") is None

    def test_list_has_its_counts(self, root):
        (line,) = [line for line in run("data", "list", "--data-root", root).stdout.splitlines() if "ogbn-arxiv" in line]
        assert line.split() == ["ogbn-arxiv", "847", "5,789", "128", "40", "accuracy", "fixed", "generated"]
        entries = {
            entry["name"]: entry for entry in json.loads(run("data", "list", "--data-root", root, "--json").stdout)["datasets"]
        }
        assert entries["ogbn-arxiv"]["generated"] is True
        assert entries["ogbn-arxiv"]["statistics"]["nodes"] == 847
        assert entries["genius"]["generated"] is False
        (root / "ogb/ogbn_arxiv/generated.json").write_text("broken")
        (line,) = [line for line in run("data", "list", "--data-root", root).stdout.splitlines() if "ogbn-arxiv" in line]
        assert line.split() == ["ogbn-arxiv", "accuracy", "fixed", "generated"]

    def test_check_refuses_it_whatever_it_counts(self, root, monkeypatch):
        counted = statistics(load("ogbn-arxiv", root))
        monkeypatch.setitem(CATALOGUE, "ogbn-arxiv", replace(CATALOGUE["ogbn-arxiv"], statistics=counted))
        assert check("ogbn-arxiv", root).mismatches == ("generated: the files are a random graph that `data generate` wrote",)
        with pytest.raises(InputError, match="got generated: .* Replace them by force="):
            fetch("ogbn-arxiv", root)
        shown = run("data", "check", "ogbn-arxiv", "--data-root", root, code=1).stdout
        assert "ogbn-arxiv (generated)" in shown
        assert "the files are not those of the catalogue" in shown

    def test_train_says_so(self, root):
        asked = ("train", "ogbn-arxiv", "--data-root", root, "--split", "fixed", "--epochs", 2)
        assert run(*asked).stdout.startswith("ogbn-arxiv (generated): 847 nodes")
        assert json.loads(run(*asked, "--json").stdout)["dataset"] == "ogbn-arxiv (generated)"

    def test_no_number_of_the_paper_stands_beside_a_study_of_it(self, root, tmp_path):
        protocol = Protocol(("mlp",), ("ogbn-arxiv",), split="fixed", splits=1, inits=1, epochs=2)
        run_study(protocol, tmp_path / "store", root=root)
        with Store(tmp_path / "store") as store:
            (row,) = store.rows()
        assert row["dataset"] == "ogbn-arxiv (generated)"
        (table,) = make_tables([row], {"mlp": {"ogbn-arxiv": 55.5}})
        assert [cell.published for cell in table.cells.values()] == [None]

    def test_search_keeps_the_key_of_presets_and_says_so(self, root):
        found = search(load("ogbn-arxiv", root), "mlp", budget=1, splits=1, split="fixed", epochs=2, patience=2)
        assert found.recipe.dataset == "ogbn-arxiv"
        assert "1 fixed split of a generated graph, seed 0" in found.recipe.origin

    def test_the_command_writes_that_key_too(self, root, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        limits = ("--budget", 1, "--splits", 1, "--split", "fixed", "--epochs", 2, "--patience", 2)
        run("search", "Arxiv", "--method", "mlp", "--data-root", root, *limits)
        assert "[ogbn-arxiv]\n" in (tmp_path / "mlp-ogbn-arxiv.toml").read_text()


@pytest.mark.parametrize("like", LIKE)
def test_the_full_shape_is_that_of_the_catalogue(like):
    shape, known = shape_of(like), CATALOGUE[like].statistics
    assert (shape.nodes, shape.edges, shape.features, shape.classes) == (
        known.nodes,
        known.edges,
        known.features,
        known.classes,
    )
    assert sum(shape.parts) == pytest.approx(1)


def test_the_parts_of_products_are_the_official_ones():
    shape = shape_of("products")
    assert [round(part * shape.nodes) for part in shape.parts] == [196615, 39323, 2213091]


def test_power_law_degrees_have_a_heavy_tail(tmp_path):
    largest = {}
    for model in ("power-law", "csbm"):
        generate("genius", tmp_path / model, scale=0.02, model=model)
        degree = torch.bincount(load("genius", tmp_path / model).edge_index[0])
        largest[model] = float(degree.max() / degree.float().mean())
    assert largest["power-law"] > 20 > 5 > largest["csbm"]


def test_features_and_graph_tell_the_class(tmp_path):
    generate("ogbn-arxiv", tmp_path, scale=0.005)
    data = load("ogbn-arxiv", tmp_path)
    means = torch.stack([data.x[data.y == c].mean(0) for c in range(40)])
    nearest = torch.cdist(data.x, means).argmin(1)
    assert float((nearest == data.y).float().mean()) > 0.3  # chance is 1 / 40


def test_the_same_seed_gives_the_same_files(tmp_path):
    digests = []
    for seed in (3, 3, 4):
        folder = generate("twitch-gamers", tmp_path, scale=0.002, seed=seed)  # replaces a generated one
        digests.append((folder / "large_twitch_edges.csv").read_bytes() + (folder / "large_twitch_features.csv").read_bytes())
    assert digests[0] == digests[1] != digests[2]
    assert not [path for path in folder.parent.iterdir() if path.name.endswith(".tmp")]


def test_real_data_is_not_touched(tmp_path):
    folder = tmp_path / "linkx" / "genius" / "raw"
    folder.mkdir(parents=True)
    (folder / "data.mat").write_bytes(b"precious")
    with pytest.raises(InputError, match="must not hold other files, got some, perhaps the real dataset"):
        generate("genius", tmp_path, scale=0.002)
    assert (folder / "data.mat").read_bytes() == b"precious"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"like": "cora"}, "like must be one of 'ogbn-arxiv', .* got 'cora'"),
        ({"like": "genius", "scale": 2}, r"scale must be a number in \[1e-06, 1\], got 2"),
        ({"like": "genius", "model": "er"}, "model must be one of 'power-law', 'csbm'"),
        ({"like": "genius", "seed": -1}, "seed must be an integer >= 0"),
    ],
)
def test_wrong_calls(tmp_path, options, sentence):
    with pytest.raises(InputError, match=sentence):
        generate(root=tmp_path, **options)


def test_sparse_one_hot_features_are_precomputed(tmp_path, monkeypatch):
    """Penn94's way: x in CSR, never dense as a whole."""
    monkeypatch.setattr("chebnet2d.data.dataset.DENSE_LIMIT", 1000)
    generate("penn94", tmp_path, scale=0.02)
    data = load("penn94", tmp_path)
    assert data.x.layout == torch.sparse_csr
    bases = precompute(data, out=tmp_path / "bases", degree=2, block=100)
    assert len(bases) == int((data.y >= 0).sum())
    rows = bases.terms(bases.nodes[:50])
    assert torch.equal(rows[:, 0], data.x.to_dense()[bases.nodes[:50]])
    assert rows[:, 0].sum() == 6 * 50


def test_fixed_splits_come_back_from_the_bases(tmp_path):
    generate("genius", tmp_path, scale=0.002)
    data = load("genius", tmp_path)
    bases = precompute(data, out=tmp_path / "b", degree=1)
    for number in range(5):
        assert stored_split(bases, "fixed", number).digest == split(data, "fixed", seed=number).digest
    assert stored_split(bases, "uniform", 3).digest == split(data, "uniform", seed=3).digest
    with pytest.raises(InputError, match="seed of the 5 fixed splits must be an integer from 0 to 4"):
        stored_split(bases, "fixed", 5)

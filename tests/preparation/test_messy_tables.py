"""All kinds of columns with gaps, then another month's: trained and predicted without a flag, in Python and by commands."""

import csv

import numpy as np
import pytest
import torch

import chebnet2d
from chebnet2d.data import read_graph, split, write_graph
from cli_runner import run
from messy_tables import messy_graph


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messy")
    return folder, messy_graph(folder / "now"), messy_graph(folder / "later", 150, seed=1, later=True)


@pytest.fixture(scope="module")
def trained(folders):
    folder, now, later = folders
    done = run("train", now, "--epochs", 60, "--save", folder / "model")
    predicted = run("predict", folder / "model", later, "--out", folder / "p.csv")
    with (folder / "p.csv").open(encoding="utf-8") as file:
        return folder / "model", done, predicted, list(csv.DictReader(file))


def test_the_command_line_takes_everything(trained):
    _, done, predicted, rows = trained
    assert "columns (3 number, 2 flag, 1 category, 2 moment, 1 left out)" in done.stdout
    assert "left out: 'page_name', 2" in done.stdout
    assert "split: stratified, seed 0" in done.stdout
    line = next(line for line in predicted.stdout.splitlines() if line.startswith("features: "))
    for words in ("gaps (", "unknown categories (city ", "no column 'flag' (taken as gaps)", "'new' not used"):
        assert words in line
    assert len(rows) == 150
    right = sum(row["label"] == ("tea", "coffee", "ünlü")[int(row["node"][1:]) % 3] for row in rows)
    assert right > 75, "most are right even so: 50 would be chance"


def test_python_gives_what_the_command_line_gives(trained, folders):
    model, _, _, rows = trained
    loaded = chebnet2d.load(model)
    graph = read_graph(folders[2])
    expected = [[float(row[f"probability_{name}"]) for name in ("coffee", "tea", "ünlü")] for row in rows]
    torch.testing.assert_close(loaded.predict(graph).probabilities, torch.tensor(expected), rtol=0, atol=1e-5)
    table = chebnet2d.predict(model, folders[2])
    assert table.column("node").to_pylist() == [row["node"] for row in rows]
    assert table.column("label").to_pylist() == [row["label"] for row in rows]
    assert table.column("part").to_pylist() == [row["part"] for row in rows]
    np.testing.assert_allclose(table.column("probability_tea").to_numpy(), [row[1] for row in expected], atol=1e-5)


def test_a_model_fitted_in_python_keeps_its_preparation(folders, tmp_path):
    data = read_graph(folders[1])
    model = chebnet2d.ChebNet2D(data.num_features, 3, hidden_channels=16, degree=3)
    chebnet2d.fit(model, data, split(data, "stratified", seed=0), epochs=20)
    chebnet2d.save(model, tmp_path / "m")
    other = read_graph(folders[2])
    assert model.preparation != other.preparation
    expected = model.predict(other).probabilities
    for graph in (other, read_graph(write_graph(other, tmp_path / "g.safetensors")), folders[2]):
        found = chebnet2d.load(tmp_path / "m")
        graph = read_graph(graph) if graph is folders[2] else graph
        torch.testing.assert_close(found.predict(graph).probabilities, expected)
    assert torch.equal(model.predict(model.preparation.apply(other)).probabilities, expected), "applied once"


def test_a_saved_scale_is_applied_in_python(tmp_path):
    """It was ignored: a model that was trained on standardized features was asked about raw ones."""
    data = chebnet2d.data.load("csbm", nodes=120, classes=2, features=4, homophily=0.9, seed=0)
    data.x = 1000 * data.x + 5000
    recipe = chebnet2d.recipes.Recipe("mlp", transform="standardize")
    result = recipe.train(data, split(data, "uniform", seed=0), epochs=50)
    chebnet2d.save(result.model, tmp_path / "m")
    loaded = chebnet2d.load(tmp_path / "m")
    raw = loaded.predict(data)
    torch.testing.assert_close(raw.probabilities, result.model.predict(recipe.prepare(data)).probabilities)
    assert float((raw.labels == data.y).float().mean()) > 0.7

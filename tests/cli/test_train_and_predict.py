"""``train``, ``predict`` and ``plot`` on an embedded dataset, and wrong commands."""

import csv
import json

import pyarrow.parquet
import pytest
import torch

import chebnet2d
from cli_runner import run
from small_commands import QUICK


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "model"
    done = run("train", "digits", *QUICK, "--seed", 3, "--save", folder)
    return folder, done


def test_train_says_what_it_did(model):
    folder, done = model
    assert "split: uniform, seed 3" in done.stdout
    assert "test accuracy" in done.stdout
    assert str(folder) in done.stdout
    assert chebnet2d.load(folder).config["degree"] == 3


def test_train_json_is_one_object_and_nothing_else():
    done = run("train", "digits", *QUICK, "--json")
    record = json.loads(done.stdout)
    assert record["dataset"] == "digits"
    assert 0.5 < record["test_accuracy"] <= 1
    assert record["split"]["name"] == "uniform"
    data = chebnet2d.data.load("digits")
    fitted = chebnet2d.ChebNet2D(data.num_features, 10, hidden_channels=8, degree=3)
    again = chebnet2d.fit(fitted, data, chebnet2d.data.split(data, "uniform", seed=0), seed=0, epochs=30)
    assert record["test_accuracy"] == again.test["accuracy"], "the command is the library call"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_predict_writes_labels_and_probabilities(model, tmp_path, ending):
    folder, _ = model
    out = tmp_path / f"predictions.{ending}"
    run("predict", folder, "digits", "--out", out)
    if ending == "csv":
        with out.open() as file:
            rows = list(csv.DictReader(file))
    else:
        rows = pyarrow.parquet.read_table(out).to_pylist()
    expected = chebnet2d.load(folder).predict(chebnet2d.data.load("digits"))
    assert len(rows) == 1797
    assert [int(row["node"]) for row in rows[:3]] == [0, 1, 2]
    assert [int(row["label"]) for row in rows] == expected.labels.tolist()
    ours = torch.tensor([[float(row[f"probability_{c}"]) for c in range(10)] for row in rows])
    torch.testing.assert_close(ours, expected.probabilities, rtol=0, atol=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_plot_draws_the_grid(model, tmp_path):
    folder, _ = model
    out = tmp_path / "filters.png"
    assert str(out) in run("plot", folder, "--out", out).stdout
    assert out.read_bytes()[:4] == b"\x89PNG"
    assert json.loads(run("plot", folder, "--json").stdout)["out"] == str(folder / "filters.png")


WRONG = [
    (["train", "digits", "--method", "chebnet3d"], "Did you mean 'chebnet2d'"),
    (["train", "digits", "--method", "mlp", "--rank", "2"], "train: --rank must be an argument of the method, got it with 'mlp'"),
    (["train", "digits", "--preset", "missing.toml"], "train: --preset must be a preset file, got 'missing.toml'"),
    (["train", "digits", "--transform", "upside-down"], "transform must be one of 'none'"),
    (["train", "digits", "--label-column", "y"], "train: --label-column must come with --edges or a path, got it with the"),
    (["train", "digits", "--edges", "taken"], "train: --edges must be the only graph, got 'digits' besides"),
    (["train", "digits", "--method", "mlp", "--filter-lr", "5"], "train: --filter-lr must be of a method with a learned filter"),
    (["train", "digits", "--filter-dropout", "-0.5", "--dropout", "0.1"], "train: --filter-dropout must be a number in [0, 1)"),
    (["train", "digits", "--hidden", "0"], "train: --hidden must be an integer >= 1, got 0."),
    (["train", "digits", "--labels", "taken"], "--labels must come with --edges or a path"),
    (["train", "digit"], "Did you mean 'digits'"),
    (["train", "digits", "--degree", "-1"], "degree must be an integer >= 0, got -1"),
    (["train", "digits", "--dropout", "1.5"], "train: --dropout must be a number in [0, 1), got 1.5."),
    (["train", "digits", "--lr", "-0.1"], "lr must be a finite number >= 0, got -0.1"),
    (["train", "digits", "--split", "unifrom"], "'uniform'"),
    (["train", "digits", "--monitor", "f1"], "monitor must be one of 'accuracy', 'loss', got 'f1'"),
    (["train", "digits", "--epochs", "ten"], "Invalid value"),
    (["train", "digits", "--save", "taken"], "--save must be a new or empty folder or one with a model, got 'taken'"),
    (["train", "digits", "--save", "taken/sub"], "--save must be in a folder, got 'taken/sub' below the file 'taken'"),
    (["predict", "MODEL", "--out", "p.csv"], "the graph must be given by a name, a path or --edges"),
    (["study", "table", "--store", "empty"], "path must be the file of a study, got 'empty', which is empty"),
    (
        ["predict", "nowhere", "digits", "--out", "p.csv"],
        "predict: MODEL must be a folder written by train --save, got 'nowhere'",
    ),
    (["predict", "MODEL", "digits", "--out", "p.xlsx"], "--out must end in .csv or .parquet, got 'p.xlsx'"),
    (["predict", "MODEL", "csbm", "--out", "p.csv"], "the graph must have 64 features, as the model was trained on"),
    (["plot", "nowhere"], "plot: MODEL must be a folder written by train --save, got 'nowhere'"),
    (["plot", "MODEL", "--out", "p.doc"], "plot: --out must end in a picture format"),
    (["paint"], "No such command"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG, ids=[" ".join(a) for a, _ in WRONG])
def test_wrong_commands(model, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "empty").touch()
    done = run(*[str(model[0]) if a == "MODEL" else a for a in arguments], code=2)
    assert sentence in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"taken": 4, "empty": 0}, (
        "bad input changes nothing"
    )

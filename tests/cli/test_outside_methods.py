"""A method of the user's own, in a file, by ``--method``."""

import json

import pytest

from cli_runner import run

METHOD = '''
from chebnet2d.models import GPRGNN


class MyModel(GPRGNN):
    """GPR-GNN under another name."""
'''


@pytest.fixture
def method(tmp_path, monkeypatch):
    (tmp_path / "my_file.py").write_text(METHOD)
    monkeypatch.chdir(tmp_path)
    return "my_file.py:MyModel"


def test_train_and_predict(method):
    record = json.loads(run("train", "csbm", "--method", method, "--epochs", 3, "--save", "m", "--json").stdout)
    assert record["method"] == method
    run("predict", "m", "csbm", "--out", "p.csv")
    unified = json.loads(run("train", "csbm", "--method", f"{method}:unified", "--epochs", 3, "--json").stdout)
    assert unified["method"] == f"{method}:unified"


def test_search_and_study(method, tmp_path):
    flags = ("--budget", 1, "--splits", 1, "--epochs", 3, "--no-baseline")
    assert "preset: my_file.py-MyModel-csbm.toml" in run("search", "csbm", "--method", method, *flags).stdout
    run("study", "run", "--methods", f"{method},mlp", "--datasets", "csbm", "--splits", 1, "--inits", 1, "--epochs", 3)
    status = json.loads(run("study", "status", "--json").stdout)
    assert (status["done"], {cell["method"] for cell in status["cells"]}) == (2, {method, "mlp"})


def test_a_method_that_is_not_there(method):
    said = run("train", "csbm", "--method", "my_file.py:Other", code=2).stderr
    assert said == "chebnet2d: train: --method must name a class of my_file.py, got 'my_file.py:Other'.\n"


def test_a_saved_model_is_used_with_the_method_named_again(method, tmp_path):
    folder, out = tmp_path / "model", tmp_path / "predictions.csv"
    run("train", "csbm", "--method", method, "--epochs", 2, "--save", folder)
    assert "predictions written" in run("predict", folder, "csbm", "--method", method, "--out", out).stdout
    said = run("predict", folder, "csbm", "--method", "gcn", "--out", out, code=2).stderr
    assert "config.json must hold the arguments of my_file.py:MyModel, got: GCN: got an unexpected keyword argument" in said

"""Boosting and logistic regression by the commands that other methods are run by."""

import csv
import json

import pytest

from chebnet2d.data import load, split
from cli_runner import run


@pytest.mark.parametrize("inputs", ["neighbours", "labels"])
def test_train_save_and_predict(inputs, tmp_path):
    command = [
        "train",
        "digits",
        "--method",
        "boosting",
        "--inputs",
        inputs,
        "--epochs",
        "4",
        "--save",
        str(tmp_path / "m"),
        "--json",
    ]
    record = json.loads(run(*command).stdout)
    assert (record["method"], record["epochs"]) == ("boosting", 4)
    out = tmp_path / "out.csv"
    run("predict", str(tmp_path / "m"), "digits", "--out", str(out))
    with out.open(encoding="utf-8") as file:
        found = [int(row["label"]) for row in csv.DictReader(file)]
    data = load("digits")
    test = split(data, "uniform", seed=0).test
    right = [found[node] == int(data.y[node]) for node in test.tolist()]
    assert record["test"]["accuracy"] == pytest.approx(sum(right) / len(right))


def test_search_has_no_learning_rates_and_ends_where_the_space_ends(tmp_path):
    command = ["search", "digits", "--budget", "3", "--splits", "1", "--out", str(tmp_path / "found.toml"), "--json"]
    tried = json.loads(run(*command, "--method", "logistic").stdout)
    assert not any(name.endswith("lr") for name in tried["search"]["space"])
    assert "C = " in (tmp_path / "found.toml").read_text(encoding="utf-8")
    run(*command, "--method", "majority")


def test_a_study_compares_them_with_a_network(tmp_path):
    store = tmp_path / "study.sqlite"
    methods = "majority,logistic,boosting,mlp"
    shape = ["--datasets", "digits", "--splits", "2", "--inits", "1", "--epochs", "3"]
    run("study", "run", "--methods", methods, *shape, "--store", str(store))
    table = json.loads(run("study", "table", "--store", str(store), "--format", "json").stdout)
    text = json.dumps(table)
    assert all(method in text for method in methods.split(","))

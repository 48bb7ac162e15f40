"""The commands for large graphs: generate, precompute, train-bases."""

import csv
import json

import pytest

import chebnet2d
from cli_runner import run

pytestmark = pytest.mark.usefixtures("own_cache")


def test_the_commands_from_a_graph_to_a_test_accuracy(tmp_path):
    root, out = tmp_path / "root", tmp_path / "bases"
    answer = run("data", "generate", "--like", "arxiv", "--scale", 0.01, "--data-root", root)
    assert "a random graph like ogbn-arxiv with 1693 nodes, 11578 edges, 128 features and 40 classes" in answer.stdout
    made = json.loads(run("data", "generate", "--like", "genius", "--scale", 0.002, "--data-root", root, "--json").stdout)
    assert (made["like"], made["nodes"]) == ("genius", 844)
    asked = ("precompute", "ogbn-arxiv", "--data-root", root, "--out", out, "--degree", 3)
    answer = run(*asked, "--memory", "8GiB")
    assert "Bases(ogbn-arxiv (generated): chebyshev of L_hat, degree 3, 1693 rows x 128 features, float32)" in answer.stdout
    manifest = json.loads(run(*asked, "--json").stdout)
    assert (manifest["degree"], manifest["bytes"]) == (3, 7 * 4 * 256 * 128 * 4)
    assert "must hold dtype float16, got dtype float32" in run(*asked, "--dtype", "float16", code=2).stderr
    assert "memory must be a size like 8GiB" in run(*asked, "--memory", "much", code=2).stderr
    assert "memory must be about" in run(*asked[:-3], tmp_path / "b", "--memory", "10MiB", code=2).stderr
    trained = run("train-bases", out, "--epochs", 3, "--batch-size", 300)
    assert "chebnet2d, filter-first:" in trained.stdout
    assert "split: fixed, seed 0, 909/298/486 nodes" in trained.stdout
    options = ("--method", "chebnetii", "--reading", "each-basis", "--split", "uniform", "--epochs", 2, "--json")
    record = json.loads(run("train-bases", out, *options).stdout)
    assert (record["reading"], record["epochs"], record["split"]["name"]) == ("each-basis", 2, "uniform")
    assert "the bases must be of the operator P~" in run("train-bases", out, "--method", "gprgnn", code=2).stderr


def test_from_bases_to_predictions(tmp_path):
    bases, model, out = tmp_path / "bases", tmp_path / "model", tmp_path / "p.csv"
    run("precompute", "digits", "--out", bases, "--degree", 3, "--transform", "standardize")
    flags = ("--split", "uniform", "--epochs", 5, "--seed", 2)
    record = json.loads(run("train-bases", bases, *flags, "--reading", "each-basis", "--save", model, "--json").stdout)
    assert (record["reading"], record["transform"], record["seed"]) == ("each-basis", "standardize", 2)
    assert run("predict", model, bases, "--out", out).stdout == f"1797 predictions written to {out}\n"
    with out.open() as file:
        rows = list(csv.DictReader(file))
    split = chebnet2d.data.split(chebnet2d.data.load("digits"), "uniform", seed=2)
    right = [rows[node]["label"] == rows[node]["given_label"] for node in split.test.tolist()]
    assert sum(right) / len(right) == pytest.approx(record["test"]["accuracy"])
    run("precompute", "digits", "--out", tmp_path / "other", "--degree", 4)
    said = run("predict", model, tmp_path / "other", "--out", out, code=2).stderr
    assert said == "chebnet2d: EachBasis: the bases must have the degree 3, as the model, got 4.\n"
    said = run("train-bases", bases, *flags, "--preset", "shipped", code=2).stderr
    words = "the features must be prepared by 'none', as the preset says, got 'standardize'."
    assert said == f"chebnet2d: train-bases: {words} Compute the bases with the transform 'none'.\n"
    wide = tmp_path / "wide"
    run("precompute", "digits", "--out", wide, "--degree", 10)
    record = json.loads(run("train-bases", wide, *flags, "--preset", "shipped", "--json").stdout)
    assert record["preset"] == chebnet2d.recipes.load_recipe("chebnet2d", "digits").origin


def test_shards_of_a_batch(tmp_path):
    """Each has dropout of its own, so that two of them do something else than one."""
    bases = tmp_path / "bases"
    run("precompute", "digits", "--out", bases, "--degree", 1)
    asked = ("train-bases", bases, "--split", "uniform", "--epochs", 2, "--json")
    losses = [json.loads(run(*asked, *flags).stdout)["val_loss"] for flags in ([], ["--shards", 1], ["--shards", 2])]
    assert losses[0] == losses[1] != losses[2]
    assert "train-bases: --shards must be an integer from 1 to 10000, got 0." in run(*asked, "--shards", 0, code=2).stderr


def test_bases_of_an_own_graph_need_no_word_about_the_split(tmp_path):
    """There are no fixed parts in it: all classes are in every part; metric and weights are those of ``train``."""
    rows = "\n".join(f"{k},{k % 3},{'ab'[k % 4 == 0]}" for k in range(80))
    (tmp_path / "nodes.csv").write_text(f"id,size,label\n{rows}\n")
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(f"{k},{k * 7 % 80}" for k in range(80)) + "\n")
    run("precompute", tmp_path, "--out", tmp_path / "bases", "--degree", 1)
    asked = ("train-bases", tmp_path / "bases", "--epochs", 3, "--json")
    plain = json.loads(run(*asked).stdout)
    assert plain["split"]["name"] == "stratified"
    other = json.loads(run(*asked, "--metric", "f1", "--class-weight", "balanced").stdout)
    assert (plain["metric"], other["metric"]) == ("accuracy", "f1")
    assert plain["val_loss"] != other["val_loss"]

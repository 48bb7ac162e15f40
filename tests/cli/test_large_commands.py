"""The commands for large graphs: generate, precompute, train-bases."""

import json

import pytest

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
    assert "memory must be at least" in run(*asked[:-3], tmp_path / "b", "--memory", "10MiB", code=2).stderr
    trained = run("train-bases", out, "--epochs", 3, "--batch-size", 300)
    assert "chebnet2d, filter-first:" in trained.stdout
    assert "split: fixed, seed 0, 909/298/486 nodes" in trained.stdout
    options = ("--method", "chebnetii", "--reading", "each-basis", "--split", "uniform", "--epochs", 2, "--json")
    record = json.loads(run("train-bases", out, *options).stdout)
    assert (record["reading"], record["epochs"], record["split"]["name"]) == ("each-basis", 2, "uniform")
    assert "the bases must be of the operator P~" in run("train-bases", out, "--method", "gprgnn", code=2).stderr

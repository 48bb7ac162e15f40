"""explain on a graph of the user's own: ids and class names as in the files."""

import json

import pytest

from cli_runner import run
from small_commands import QUICK, small_graph


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    graph = small_graph(folder / "graph")
    run("train", graph, *QUICK, "--save", folder / "model")
    return folder / "model", graph


def test_shares_with_the_ids_of_the_graph(trained, tmp_path):
    model, graph = map(str, trained)
    out = tmp_path / "e.json"
    result = run("explain", model, graph, "--node", "n3", "--node", "n4", "--class", "cat", "--out", str(out), "--json")
    first, second = json.loads(result.stdout)["explanations"]
    assert (first["node"], second["node"], first["class"], first["kind"]) == ("n3", "n4", "cat", "exact")
    assert sum(first["hops"]) + first["constant"] == pytest.approx(first["logit"], rel=1e-6)
    assert {node["node"] for node in first["nodes"]} <= {f"n{i}" for i in range(40)}
    assert json.loads(out.read_text())["explanations"] == [first, second]


def test_a_picture_and_lines_for_people(trained, tmp_path):
    model, graph = map(str, trained)
    result = run("explain", model, graph, "--node", "n3", "--out", str(tmp_path / "e.png"), "--feature-shares", "permutation")
    assert "exact: the logit is a sum over nodes" in result.stdout
    assert "fall when shuffled" in result.stdout
    assert (tmp_path / "e.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--node", "x"], "explain: --node must be the id of a node of the graph, got 'x'"),
        (["--node", "n1", "--class", "cow"], "explain: --class must be one of 'cat', 'dog', got 'cow'"),
        (["--node", "n1", "--feature-shares", "all"], "explain: --feature-shares must be one of"),
        (["--node", "n1", "--out", "e.txt"], "explain: --out must end in .png"),
        (["--node", "n1", "--node", "n2", "--out", "e.png"], "a picture shows one"),
    ],
)
def test_wrong_input(trained, typed, said):
    result = run("explain", *trained, *typed, code=2)
    assert said in result.stderr


def test_plots_of_a_graph_and_of_a_model_on_it(trained, tmp_path):
    model, graph = map(str, trained)
    run("plot", "--data", graph, "--out", str(tmp_path / "d.png"))
    run("plot", model, "--graph", graph, "--out", str(tmp_path / "m.png"))
    result = run("plot", model, "--graph", graph, "--kind", "strengths", "--out", str(tmp_path / "s.png"), code=2)
    assert "plot: --graph must be left out for 'strengths'" in result.stderr

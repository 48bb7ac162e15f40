"""Pages that several tests look at: a model, a predictor and a study, each made once."""

import pytest
import torch

import chebnet2d
from browser import browser
from chebnet2d.data import load, read_graph, split
from chebnet2d.study import Protocol, run_study
from cli_runner import run
from hostile_graph import write_hostile_graph


@pytest.fixture(scope="session")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A folder with a graph, and a model of it."""
    folder = tmp_path_factory.mktemp("hostile")
    graph = read_graph(str(write_hostile_graph(folder / "graph")))
    torch.manual_seed(0)
    model = chebnet2d.ChebNet2D(graph.num_features, 3, hidden_channels=4, degree=2)
    result = chebnet2d.fit(model, graph, split(graph, "stratified", seed=0), seed=0, epochs=20)
    facts = {"dataset": "<img src=x>", "method": "chebnet2d", "versions": {"torch": "1"}, **result.to_record()}
    chebnet2d.save(model, folder / "model", facts=facts)
    return folder


@pytest.fixture(scope="session")
def model_page(hostile):
    return chebnet2d.report(hostile / "model", hostile / "graph", out=hostile / "model.html", mistakes=1)


@pytest.fixture(scope="session")
def explained_page(hostile):
    """The page of two nodes, by the command."""
    nodes = [word for i in range(2) for word in ("--node", f"<b onclick=x>{i}</b>")]
    out = hostile / "explained.html"
    said = run("explain", hostile / "model", hostile / "graph", *nodes, "--top", 4, "--out", out).stdout
    assert f"explanation written to {out}" in " ".join(said.split())
    return out


@pytest.fixture(scope="session")
def predictor(tmp_path_factory):
    """A folder with a predictor, and its graph."""
    folder = tmp_path_factory.mktemp("predictor")
    graph = load("csbm", nodes=90, classes=3, features=6, seed=1)
    made = chebnet2d.NodePredictor(methods=["majority", "logistic:features"], folds=3).fit(graph, budget=2)
    made.save(folder / "p")
    return folder / "p", graph


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "s.sqlite"
    options = {"splits": 3, "inits": 1, "epochs": 3}
    run_study(Protocol(("mlp", "chebnet2d", "gprgnn"), ("csbm", "digits"), **options), path)
    return path


@pytest.fixture(scope="session")
def study_page(store):
    return chebnet2d.report(store, out=store.with_name("study.html"))

"""``chebnet2d auto``, and ``predict`` with what it saved."""

import csv
import json

import pytest

from chebnet2d.auto import NodePredictor
from cli_runner import run
from small_commands import small_graph

QUICK = ("--methods", "majority,logistic", "--folds", 2, "--budget", 4, "--workers", 1)


def test_from_tables_to_predictions(tmp_path):
    folder = small_graph(tmp_path / "graph")
    done = run("auto", folder, *QUICK, "--save", tmp_path / "p")
    assert "accuracy on 2 folds of 32 nodes" in done.stdout
    assert "The graph adds" in done.stdout
    assert "test accuracy of the predictor: " in done.stdout
    assert not (tmp_path / "p.work").exists()
    run("predict", tmp_path / "p", folder, "--out", tmp_path / "out.csv")
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert {row["node"] for row in rows} == {f"n{i}" for i in range(40)}
    assert [row["label"] for row in rows] == NodePredictor.load(tmp_path / "p").predict(folder).tolist()
    assert {row["part"] for row in rows} == {"train", "test"}


def test_a_later_graph_without_labels(tmp_path):
    done = run("auto", small_graph(tmp_path / "graph"), *QUICK, "--inductive", "--save", tmp_path / "p")
    assert "probabilities: expected calibration error " in done.stdout
    assert ", from out-of-fold nodes); label sets for coverage 0.9 held " in done.stdout
    later = small_graph(tmp_path / "later", header="id,a,b,note")
    with (later / "nodes.csv").open("a") as file:
        file.write("n99,1,3,cat\n")
    done = run("predict", tmp_path / "p", later, "--out", tmp_path / "out.csv", "--coverage", 0.8)
    assert "nodes: 1 of 41 are new, 0 of the training graph are gone" in done.stdout
    assert "label sets: each holds the true label with a probability of about 0.8" in done.stdout
    assert "whether its nodes are exchangeable with them is not known" in done.stdout
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert all(json.loads(row["label_set"])[0] == row["label"] for row in rows)
    wrong = run("predict", tmp_path / "p", later, "--out", tmp_path / "out.csv", "--coverage", 1, code=2)
    assert "predict: --coverage must be above 0 and below 1" in wrong.stderr


def test_json_is_the_leaderboard_and_the_test(tmp_path):
    done = run("auto", small_graph(tmp_path / "graph"), *QUICK, "--save", tmp_path / "p", "--json", "--metric", "f1_macro")
    facts = json.loads(done.stdout)
    assert facts["metric"] == "f1_macro"
    assert {row["method"] for row in facts["leaderboard"]} == {"majority", "logistic:features", "logistic:neighbours"}
    assert facts["test"]["scores"].keys() >= {"accuracy", "f1_macro"}
    assert done.stderr == ""


@pytest.mark.slow
def test_two_processes_find_the_same(tmp_path):
    graph, found = small_graph(tmp_path / "graph"), []
    for workers in (1, 2):
        done = run("auto", graph, *QUICK[:-1], workers, "--save", tmp_path / f"p{workers}", "--json")
        found.append([(row["method"], row["fold_scores"]) for row in json.loads(done.stdout)["leaderboard"]])
    assert found[0] == found[1]


def test_ctrl_c_saves_the_best_so_far_and_the_same_command_goes_on(tmp_path, monkeypatch):
    from chebnet2d.auto import loop

    train, calls = loop.train, []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return train(*arguments, **options)

    command = ("auto", small_graph(tmp_path / "graph"), *QUICK, "--save", tmp_path / "p")
    monkeypatch.setattr(loop, "train", interrupted)
    done = run(*command, code=130)
    assert "interrupted. The same command goes on from there." in done.stderr
    assert (tmp_path / "p" / "predictor.json").is_file()
    run(*command, "--json")
    assert len(calls) == 3 + 2  # two were finished, and are not trained again


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--budget", "soon"], "auto: --budget must be a time like 90s, 10m or 2h"),
        (["--methods", "logistc"], "must be one of"),
        (["--folds", "1"], "auto: --folds must be an integer from 2 to 50, got 1."),
        (["--split", "unifrm"], "auto: --split must be one of"),
        (["--metric", "f2"], "auto: --metric must be one of"),
        (["--save", "graph"], "auto: --save must be a new or empty folder or one with a predictor"),
    ],
)
def test_wrong_commands(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    small_graph(tmp_path / "graph")
    done = run("auto", "graph", *arguments, code=2)
    assert sentence in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph"]

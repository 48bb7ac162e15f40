"""``train`` and ``predict`` on a graph of the user's."""

import csv
import json

import pytest

import chebnet2d
from chebnet2d.auto import FEW
from chebnet2d.recipes import Recipe, load_recipe
from cli_runner import run
from small_commands import QUICK, small_graph


def test_own_graph_from_training_to_prediction(tmp_path):
    """CSV in, the user's ids and label names out."""
    data = chebnet2d.data.load("csbm", nodes=60, classes=2, features=5, homophily=0.9, seed=0)
    folder = tmp_path / "my-graph"
    folder.mkdir()
    ids = [f"user-{i:02d}" for i in range(60)]
    edges = ["source,target"] + [f"{ids[a]},{ids[b]}" for a, b in data.edge_index.T.tolist() if a < b]
    (folder / "edges.csv").write_text("\n".join(edges) + "\n")
    rows = ["id,f0,f1,f2,f3,f4"] + [",".join([ids[i], *(f"{v:.5f}" for v in x)]) for i, x in enumerate(data.x.tolist())]
    (folder / "features.csv").write_text("\n".join(rows) + "\n")
    labels = ["id,label"] + [f"{ids[i]},{'cat' if y else 'dog'}" for i, y in enumerate(data.y.tolist()) if i % 3]
    (folder / "labels.csv").write_text("\n".join(labels) + "\n")
    run("train", folder, *QUICK, "--transform", "standardize", "--split", "uniform", "--save", tmp_path / "m")
    run("predict", tmp_path / "m", folder, "--out", tmp_path / "p.csv")
    with (tmp_path / "p.csv").open() as file:
        written = list(csv.DictReader(file))
    assert {row["node"] for row in written} == set(ids)
    assert {row["label"] for row in written} <= {"cat", "dog"}
    known = {ids[i]: "cat" if y else "dog" for i, y in enumerate(data.y.tolist())}
    assert sum(known[row["node"]] == row["label"] for row in written) > 45
    assert [row["given_label"] for row in written] == ["" if i % 3 == 0 else known[ids[i]] for i in range(60)]


def test_a_model_standardizes_other_graphs_as_its_own(tmp_path):
    """An MLP does not see the graph: a node alone has the probabilities that it has among all."""
    flags = ("--epochs", 30, "--method", "mlp", "--transform", "standardize")
    run("train", small_graph(tmp_path / "g"), *flags, "--save", tmp_path / "m")
    run("predict", tmp_path / "m", tmp_path / "g", "--out", tmp_path / "all.csv")
    few = small_graph(tmp_path / "few")
    (few / "edges.csv").write_text("source,target\nn0,n1\n")
    (few / "nodes.csv").write_text("\n".join((few / "nodes.csv").read_text().split("\n")[:3]) + "\n")
    run("predict", tmp_path / "m", few, "--out", tmp_path / "few.csv")
    rows = {}
    for name in ("few", "all"):
        with (tmp_path / f"{name}.csv").open() as file:
            rows[name] = list(csv.DictReader(file))
    assert len(rows["few"]) == 2
    for few_row, row in zip(rows["few"], rows["all"], strict=False):
        assert [few_row[key] for key in ("node", "label", "part")] == [row[key] for key in ("node", "label", "part")]
        assert float(few_row["probability_cat"]) == pytest.approx(float(row["probability_cat"]), abs=1e-6)


def test_predict_reads_the_graph_as_train_did(tmp_path):
    graph = small_graph(tmp_path / "g", header="id,a,b,kind", label=lambda i: "cat" if i % 2 else "dog")
    run("train", graph, *QUICK, "--label-column", "kind", "--ignore-column", "b", "--save", tmp_path / "m")
    run("predict", tmp_path / "m", graph, "--out", tmp_path / "p.csv")
    with (tmp_path / "p.csv").open() as file:
        assert {row["given_label"] for row in csv.DictReader(file)} == {"cat", "dog"}
    done = run("predict", tmp_path / "m", graph, "--ignore-column", "a", "--out", tmp_path / "q.csv", code=2)
    assert "the features must have some of the model's columns ('a'), got 'b'" in done.stderr, "what is typed comes first"


def test_the_largest_component_keeps_the_ids_of_its_nodes(tmp_path):
    graph = small_graph(tmp_path / "g")
    (graph / "nodes.csv").write_text((graph / "nodes.csv").read_text() + "aaa,0,1,cat\n")
    (graph / "edges.csv").write_text("source,target\n" + "".join(f"n{i},n{(i + 1) % 40}\n" for i in range(40)))
    run("train", graph, *QUICK, "--transform", "largest-component", "--save", tmp_path / "m")
    run("predict", tmp_path / "m", graph, "--out", tmp_path / "p.csv")
    with (tmp_path / "p.csv").open() as file:
        assert {row["node"] for row in csv.DictReader(file)} == {f"n{i}" for i in range(40)}


def test_outputs_do_not_replace_inputs(tmp_path):
    graph = small_graph(tmp_path / "g")
    run("train", graph, *QUICK, "--save", tmp_path / "m")
    before = (graph / "nodes.csv").read_text()
    done = run("predict", tmp_path / "m", graph, "--out", graph / "nodes.csv", code=2)
    assert "predict: --out must be another file than those that are read" in done.stderr
    done = run("predict", tmp_path / "m", "--edges", graph / "edges.csv", "--out", graph / "edges.csv", code=2)
    assert "predict: --out must be another file than those that are read" in done.stderr
    assert (graph / "nodes.csv").read_text() == before
    (tmp_path / "protocol.toml").write_text('methods = ["mlp"]\ndatasets = ["csbm"]\n')
    done = run("search", graph, "--budget", 1, "--epochs", 2, "--out", tmp_path / "protocol.toml", code=2)
    assert "search: --out must be a new file or one that chebnet2d wrote" in done.stderr
    done = run("search", graph, "--budget", 1, "--epochs", 2, "--out", graph / "nodes.csv" / "t.toml", code=2)
    assert "search: --out must be in a folder, got" in done.stderr


def test_own_graphs_get_default_settings_and_presets_keep_their_limits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_graph(tmp_path / "digits")
    assert run("train", "Digits", *QUICK).stdout.startswith("digits: 1797 nodes"), "a dataset's name means the dataset"
    small_graph(tmp_path / "cornell-like")
    flags = ("--budget", 1, "--epochs", 3, "--splits", 1, "--method", "mlp", "--monitor", "loss", "--out", "p.toml")
    run("search", "cornell-like", *flags, "--ignore-column", "b")
    text = (tmp_path / "p.toml").read_text()
    assert "[default]" in text
    record = json.loads(run("train", "digits", "--method", "mlp", "--preset", "p.toml", "--json").stdout)
    assert record["epochs"] == 3, "of the preset, not the usual 2000"


def test_features_are_matched_by_name(tmp_path):
    run("train", small_graph(tmp_path / "g"), *QUICK, "--save", tmp_path / "m")
    run("predict", tmp_path / "m", tmp_path / "g", "--out", tmp_path / "p.csv")
    swapped = small_graph(tmp_path / "swapped")
    lines = [line.split(",") for line in (swapped / "nodes.csv").read_text().split()]
    (swapped / "nodes.csv").write_text("".join(",".join([i, b, a, y]) + "\n" for i, a, b, y in lines))
    run("predict", tmp_path / "m", swapped, "--out", tmp_path / "q.csv")
    assert (tmp_path / "p.csv").read_text() == (tmp_path / "q.csv").read_text()
    other = small_graph(tmp_path / "other", header="id,a,c,label")
    done = run("predict", tmp_path / "m", other, "--out", tmp_path / "r.csv")
    assert "features: no column 'b' (taken as gaps); 'c' not used" in done.stdout
    run("train", tmp_path / "g", *QUICK, "--preprocess", "none", "--save", tmp_path / "raw")
    done = run("predict", tmp_path / "raw", other, "--out", tmp_path / "r.csv", code=2)
    assert "must be the 2 columns that the model was trained on, got no 'b'" in done.stderr


def test_predict_from_single_files(tmp_path):
    graph = small_graph(tmp_path / "g")
    run("train", graph, *QUICK, "--save", tmp_path / "m")
    files = ("--edges", graph / "edges.csv", "--features", graph / "nodes.csv")
    run("predict", tmp_path / "m", *files, "--out", tmp_path / "p.csv")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 41
    assert (tmp_path / "m" / "config.json").stat().st_mode & 0o044, "readable for others, as the umask says"


@pytest.mark.parametrize(
    ("label", "got", "columns"),
    [(lambda i: "", "no labels", " Columns of few values: 'a'."), (lambda i: "tea", "one class only", "")],
)
def test_too_few_classes(tmp_path, label, got, columns):
    graph = small_graph(tmp_path / "g", label=label)
    done = run("train", graph, *QUICK, "--save", tmp_path / "m", code=2)
    hint = f"Name their column by --label-column or their file by --labels.{columns}"
    assert done.stderr == f"chebnet2d: train: the graph must have labels of at least two classes, got {got}. {hint}\n"
    assert not (tmp_path / "m").exists()


def test_labels_in_a_column_of_another_name(tmp_path):
    """Words that are few may be the labels: train and describe ask."""
    rows = [f"{i},{'tea' if i % 2 else 'wine'},{i * i}" for i in range(30)]
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / "nodes.csv").write_text("\n".join(["id,drinks {often},age", *rows, ""]))
    (tmp_path / "g" / "edges.csv").write_text("source,target\n0,1\n1,2\n")
    said = run("train", tmp_path / "g", *QUICK, code=2).stderr
    assert said.endswith("by --label-column or their file by --labels. Columns of few values: 'drinks {often}'.\n")
    asked = "nothing can be trained; has one of these columns the labels? 'drinks {often}'"
    assert asked in json.loads(run("data", "describe", tmp_path / "g", "--json").stdout)["notes"][-1]
    run("train", tmp_path / "g", *QUICK, "--label-column", "drinks {often}")


def test_train_takes_what_is_known_of_a_dataset(tmp_path, monkeypatch):
    line = "settings for digits: found by search: trial 1 of 2 (--preset none: the method's defaults)\n"
    assert "settings for" not in run("train", "digits", "--epochs", 1).stdout, "nothing is known of digits"
    known = Recipe(
        "chebnet2d", dataset="digits", settings={"lr": 0.02}, origin="found by search: trial 1 of 2; space lr 0.01|0.02"
    )
    monkeypatch.setattr("chebnet2d.recipes.known_recipe", lambda method, dataset: known if dataset == "digits" else None)
    assert line in run("train", "digits", "--epochs", 1).stdout
    record = json.loads(run("train", "digits", "--epochs", 1, "--weight-decay", 0.0, "--json").stdout)
    assert record["preset"].startswith("found by search: trial 1 of 2")
    assert (record["settings"]["lr"], record["settings"]["weight_decay"]) == (0.02, 0.0)
    for preset, origin in (("none", "defaults of the class"), ("published", load_recipe("chebnet2d", "digits").origin)):
        record = json.loads(run("train", "digits", "--epochs", 1, "--preset", preset, "--json").stdout)
        assert record["preset"] == origin
    monkeypatch.chdir(tmp_path)
    small_graph(tmp_path / "search")
    assert "settings for" not in run("train", "search", *QUICK).stdout, "a table of the presets, but no dataset"


def test_settings_are_those_that_auto_begins_with(tmp_path):
    done = run("train", small_graph(tmp_path / "g"), "--method", "tuned-gcn", "--epochs", 2, "--save", tmp_path / "m", "--json")
    assert json.loads(done.stdout)["preset"] == load_recipe("tuned-gcn", "default").origin
    assert chebnet2d.load(tmp_path / "m").config["norm"] == "layer"


def test_without_a_method_validation_nodes_choose(tmp_path):
    """One line says so, the model is saved as any other, and a method or a setting that is typed ends it."""
    graph, few = small_graph(tmp_path / "g"), ("--epochs", 3)
    done = run("train", graph, *few, "--save", tmp_path / "m")
    line = next(line for line in done.stdout.splitlines() if line.startswith("method: "))
    assert all(f"{name} " in line for name in FEW)
    run("predict", tmp_path / "m", graph, "--out", tmp_path / "out.csv")
    facts = json.loads(run("train", graph, *few, "--json").stdout)
    scores = facts["chosen_from"]
    assert scores.keys() == set(FEW)
    assert facts["val_metric"] == max(scores.values())
    first = next(name for name in FEW if scores[name] == facts["val_metric"])
    assert line.startswith(f"method: {first}, by validation accuracy (")
    assert 0 <= facts["test"]["accuracy"] <= 1
    for typed in (("--method", "chebnet2d"), ("--degree", 2), ("--lr", 0.02)):
        facts = json.loads(run("train", graph, *few, *typed, "--json").stdout)
        assert facts["method"] == "chebnet2d"
        assert "chosen_from" not in facts

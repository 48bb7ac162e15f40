import contextlib
import csv
import io
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet
import pytest
import torch
import typer

import chebnet2d
from chebnet2d.cli import app, main

QUICK = ["--epochs", "30", "--degree", "3", "--hidden", "8"]


@dataclass
class Done:
    code: int
    stdout: str
    stderr: str


def run(*arguments, code=0):
    """The command in this process: what ``chebnet2d ARGUMENTS`` prints and returns."""
    out, err = io.StringIO(), io.StringIO()
    exit_code = 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["chebnet2d", *map(str, arguments)])
        try:
            main()
        except SystemExit as stop:
            exit_code = stop.code or 0
    done = Done(exit_code, out.getvalue(), err.getvalue())
    assert done.code == code, done
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "model"
    done = run("train", "digits", *QUICK, "--seed", 3, "--save", folder)
    return folder, done


def test_help_is_quick_and_loads_nothing_heavy():
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "chebnet2d", "--help"], capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - start
    assert "Example: chebnet2d train" in done.stdout
    loaded = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if "|" in line}
    assert not loaded & {"torch", "numpy", "matplotlib", "pyarrow", "sklearn", "scipy"}
    assert seconds < 3, "0.5 s on a quiet machine; the margin is for a busy one"


def test_version():
    assert run("--version").stdout == f"chebnet2d {chebnet2d.__version__}\n"


def _commands(group, path=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command):
    assert f"Example: chebnet2d {command}" in COMMANDS[command].help


def test_readme_says_which_commands_have_no_json_and_names_those_of_groups():
    without = [name for name, command in COMMANDS.items() if not any("--json" in option.opts for option in command.params)]
    assert without == ["study run", "study table", "study export"]
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert "`study run` and `study export` do without it, `study table` has `--format json`" in readme
    for group in ("data", "study"):
        names = [name.removeprefix(f"{group} ") for name in COMMANDS if name.startswith(f"{group} ")]
        assert f"`chebnet2d {group} " + r"\|".join(names) + "`" in readme
        assert ", ".join(names) in run(group, "--help").stdout


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
    assert record["test_accuracy"] == again.test_accuracy, "the command is the library call"


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
    run("train", folder, *QUICK, "--transform", "standardize", "--save", tmp_path / "m")
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
    assert (tmp_path / "few.csv").read_text() == "\n".join((tmp_path / "all.csv").read_text().split("\n")[:3]) + "\n"


def test_predict_reads_the_graph_as_train_did(tmp_path):
    graph = small_graph(tmp_path / "g", header="id,a,b,kind", label=lambda i: "cat" if i % 2 else "dog")
    run("train", graph, *QUICK, "--label-column", "kind", "--ignore-column", "b", "--save", tmp_path / "m")
    run("predict", tmp_path / "m", graph, "--out", tmp_path / "p.csv")
    with (tmp_path / "p.csv").open() as file:
        assert {row["given_label"] for row in csv.DictReader(file)} == {"cat", "dog"}
    done = run("predict", tmp_path / "m", graph, "--ignore-column", "a", "--out", tmp_path / "q.csv", code=2)
    assert "got no 'a'" in done.stderr, "what is typed comes first"


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
    assert "search: --out must be a new file or a preset" in done.stderr
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


def test_an_interrupt_says_what_becomes_of_the_work(capfd, monkeypatch):
    monkeypatch.setattr("sys.argv", ["chebnet2d", "study", "run"])

    def interrupted():
        raise SystemExit(130)

    monkeypatch.setattr("chebnet2d.cli.app", interrupted)
    with pytest.raises(SystemExit, match="130"):
        main()
    assert "interrupted. Finished runs are in the store, and the same command goes on" in capfd.readouterr().err


def small_graph(folder, header="id,a,b,label", label=lambda i: "cat" if i % 2 else "dog"):
    folder.mkdir()
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"n{i},n{(i + 2) % 40}\n" for i in range(40)))
    rows = "".join(f"n{i},{i % 2},{(i * 7) % 5},{label(i)}\n" for i in range(40))
    (folder / "nodes.csv").write_text(header + "\n" + rows)
    return folder


def test_features_are_matched_by_name(tmp_path):
    run("train", small_graph(tmp_path / "g"), *QUICK, "--save", tmp_path / "m")
    run("predict", tmp_path / "m", tmp_path / "g", "--out", tmp_path / "p.csv")
    swapped = small_graph(tmp_path / "swapped")
    lines = [line.split(",") for line in (swapped / "nodes.csv").read_text().split()]
    (swapped / "nodes.csv").write_text("".join(",".join([i, b, a, y]) + "\n" for i, a, b, y in lines))
    run("predict", tmp_path / "m", swapped, "--out", tmp_path / "q.csv")
    assert (tmp_path / "p.csv").read_text() == (tmp_path / "q.csv").read_text()
    other = small_graph(tmp_path / "other", header="id,a,c,label")
    done = run("predict", tmp_path / "m", other, "--out", tmp_path / "r.csv", code=2)
    assert "must be the 2 columns that the model was trained on, got no 'b'" in done.stderr


def test_predict_from_single_files(tmp_path):
    graph = small_graph(tmp_path / "g")
    run("train", graph, *QUICK, "--save", tmp_path / "m")
    files = ("--edges", graph / "edges.csv", "--features", graph / "nodes.csv")
    run("predict", tmp_path / "m", *files, "--out", tmp_path / "p.csv")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 41
    assert (tmp_path / "m" / "config.json").stat().st_mode & 0o044, "readable for others, as the umask says"


@pytest.mark.parametrize(("label", "got"), [(lambda i: "", "no labels"), (lambda i: "tea", "one class only")])
def test_too_few_classes(tmp_path, label, got):
    graph = small_graph(tmp_path / "g", label=label)
    done = run("train", graph, *QUICK, "--save", tmp_path / "m", code=2)
    assert f"labels of at least two classes, got {got}" in done.stderr
    assert not (tmp_path / "m").exists()


def test_train_tells_of_settings_chosen_for_the_dataset(tmp_path, monkeypatch):
    hint = "come with --preset shipped"
    assert hint not in run("train", "digits", "--epochs", 1).stdout, "there are none for digits"
    monkeypatch.chdir(tmp_path)
    small_graph(tmp_path / "search")
    assert hint not in run("train", "search", *QUICK).stdout, "a table of the presets, but no dataset"
    chosen = {"default": {}, "digits": {"settings": {"lr": 0.02}}}
    monkeypatch.setattr("chebnet2d.cli.graphs.shipped_presets", lambda method: chosen)
    assert hint in run("train", "Digits", "--epochs", 1).stdout
    assert hint not in run("train", "digits", "--epochs", 1, "--preset", "shipped").stdout


def test_methods_and_presets(tmp_path):
    preset = tmp_path / "p.toml"
    preset.write_text('[default]\norigin = "me"\nmodel = { hidden_channels = 8, dropout = 0.1 }\nsettings = { lr = 0.05 }\n')
    record = json.loads(run("train", "digits", "--method", "mlp", "--preset", preset, "--epochs", 5, "--json").stdout)
    assert (record["method"], record["preset"]) == ("mlp", "me")
    shipped = json.loads(run("train", "digits", "--preset", "shipped", "--epochs", 2, "--json").stdout)
    assert shipped["transform"] == "none", "pixels are no counts of words"


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


def test_makefile_demo_uses_commands_that_exist():
    text = (Path(__file__).parent.parent / "Makefile").read_text()
    assert "chebnet2d train digits" in text
    assert "chebnet2d plot" in text

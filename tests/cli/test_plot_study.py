"""``plot --study``: pictures of a store or of an exported study."""

import json
from pathlib import Path

import pytest

from chebnet2d.study import Protocol, export_rows, run_study
from cli_runner import run

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")
    options = {"splits": 2, "inits": 1, "epochs": 3, "split": ("uniform", "balanced")}
    run_study(Protocol(("mlp", "chebnet2d"), ("csbm", "digits"), **options), folder / "s.sqlite")
    export_rows(folder / "s.sqlite", folder / "s.parquet")
    return folder / "s.sqlite"


@pytest.mark.parametrize("kind", ["intervals", "critical-difference", "curves"])
@pytest.mark.parametrize("suffix", [".sqlite", ".parquet"])
def test_a_picture(store, kind, suffix, tmp_path):
    done = run(
        "plot", "--study", store.with_suffix(suffix), "--kind", kind, "--split", "uniform", "--out", tmp_path / "p.svg", "--json"
    )
    assert json.loads(done.stdout) == {"out": str(tmp_path / "p.svg")}
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("kind", ["best-of-n", "degree"])
def test_a_picture_of_trials(kind, tmp_path):
    run("plot", "--study", RESULTS / "table3.parquet", "--kind", kind, "--out", tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")


def test_by_default_intervals_beside_the_store(store):
    assert str(store.parent / "intervals.png") in run("plot", "--study", store, "--split", "balanced").stdout
    assert (store.parent / "intervals.png").stat().st_size > 1000


WRONG = [
    ("plot", "what to draw must be given by MODEL, by --study or by --data, got none of them."),
    ("plot somewhere --study STORE", "what to draw must be given by MODEL, by --study or by --data, got several of them."),
    ("plot --study STORE --kind filters", "plot: --kind must be one of "),
    ("plot --study STORE --kind interval", "Did you mean 'intervals'?"),
    ("plot --study STORE", "plot: --split must be one of 'uniform', 'balanced', got none of them."),
    ("plot --study STORE --split fixed", "plot: --split must be one of 'uniform', 'balanced', got 'fixed'."),
    ("plot --study STORE --method gcn", "plot: --method must be left out without MODEL, got 'gcn'."),
    ("plot somewhere --split uniform", "plot: --split must be left out beside MODEL, got 'uniform'."),
    ("plot --study STORE --split uniform --kind best-of-n", "plot_best_of_n: rows must have trials, got none."),
    ("plot --study STORE --split uniform --out p.doc", "plot: --out must end in .png, .pdf or .svg, got 'p.doc'."),
    ("plot --study nowhere.sqlite", "plot: --study must be the file of a study, got 'nowhere.sqlite', which does not exist."),
    ("plot --study nowhere.parquet", "plot: --study must be a study, got 'nowhere.parquet', which does not exist."),
]


@pytest.mark.parametrize(("command", "sentence"), WRONG, ids=[command for command, _ in WRONG])
def test_wrong_commands(store, command, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*(str(store) if word == "STORE" else word for word in command.split()), code=2)
    assert sentence in done.stderr
    assert list(tmp_path.iterdir()) == []

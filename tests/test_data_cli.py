"""The commands ``data list`` and ``data splits``, and the catalogue behind them, without any file."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import raw_formats as raw
from chebnet2d import InputError
from chebnet2d.cli import app
from chebnet2d.data import CATALOGUE, find
from chebnet2d.data.splits import PROTOCOLS
from data_root import find_data_root

PAPER = [
    *("cora", "citeseer", "pubmed", "computers", "photo", "chameleon", "squirrel", "actor", "texas", "cornell"),
    *("ogbn-arxiv", "ogbn-products", "penn94", "genius", "twitch-gamers", "roman-empire", "tolokers", "amazon-ratings"),
]
runner = CliRunner()
DATA_ROOT = find_data_root()  # before a test changes the environment


@pytest.fixture(autouse=True)
def _folders(tmp_path, monkeypatch):
    monkeypatch.setenv("CHEBNET2D_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CHEBNET2D_DATA", str(tmp_path / "root"))


def test_the_catalogue_has_the_eighteen_of_the_paper():
    assert [name for name, entry in CATALOGUE.items() if entry.paper] == PAPER
    for entry in CATALOGUE.values():
        assert entry.protocol in PROTOCOLS
        assert entry.licence
        assert entry.source
        assert entry.metric == ("roc_auc" if entry.name in ("genius", "tolokers") else "accuracy")
        assert bool(entry.digest) == entry.counted
        assert find(entry.title.replace(" ", "")).name == entry.name


def test_names_are_forgiving():
    assert find(" Twitch_Gamers ").name == "twitch-gamers"
    assert find("film").name == "actor"
    with pytest.raises(InputError, match="Did you mean 'tolokers'"):
        find("toloker")


def test_statistics_of_the_paper_are_those_of_its_tables():
    path = (DATA_ROOT or Path()).parent / "paper" / "tables.json"
    if not path.is_file():
        pytest.skip("no tables of the paper at hand")
    printed = json.loads(path.read_text())["dataset_statistics"]
    for name in PAPER:
        paper = CATALOGUE[name].paper
        assert {"nodes": paper.nodes, "edges": paper.edges, "features": paper.features, "classes": paper.classes} == printed[name]


def test_list_shows_what_is_here(tmp_path):
    raw.write_heterophilous(tmp_path / "root")
    text = runner.invoke(app, ["data", "list"]).output
    for name in (*PAPER, "digits", "csbm"):
        assert name in text
    here = [line.split()[0] for line in text.splitlines() if line.rstrip().endswith("yes")]
    assert here == ["roman-empire"]
    answer = json.loads(runner.invoke(app, ["data", "list", "--json"]).stdout)
    assert [entry["name"] for entry in answer["datasets"] if entry["here"]] == ["digits", "csbm", "roman-empire"]


def _in_a_terminal(monkeypatch, width, *arguments):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    return re.sub(r"\x1b\[[0-9;]*m", "", runner.invoke(app, ["data", *arguments]).output)


@pytest.mark.parametrize(
    ("width", "left_out"),
    [(80, "protocol, metric, homophily"), (100, "protocol"), (120, None), (40, "protocol, metric, homophily")],
)
def test_list_cuts_no_number_in_a_narrow_terminal(monkeypatch, width, left_out):
    text = _in_a_terminal(monkeypatch, width, "list")
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["ogbn-products"][:5] == ["ogbn-products", "2,449,029", "61,859,076", "100", "47"]
    assert rows["cora"][-1] == "no"
    assert ("homophily" in rows["dataset"]) == (left_out is None or "homophily" not in left_out)
    assert "…" not in text
    assert ("left out, for want of width" in text) == (left_out is not None)
    assert left_out is None or f"want of width: {left_out}.\n" in text
    table = text.split("data root:")[0]
    assert width == 40 or max(map(len, table.splitlines())) <= width


def test_splits_cut_no_number_in_a_narrow_terminal(monkeypatch):
    text = _in_a_terminal(monkeypatch, 60, "splits", "digits", "--protocol", "uniform")
    assert "…" not in text
    assert re.search(r"train +1,078 +60\.0 %( +\d+){10}", text)


def test_a_wrong_seed_is_one_complaint():
    answer = runner.invoke(app, ["data", "splits", "digits", "--seed", "-1"])
    assert isinstance(answer.exception, InputError)  # which the entry point turns into exit code 2
    assert str(answer.exception) == "data splits: --seed must be an integer >= 0, got -1 (int)."
    assert answer.output == ""


def test_splits_of_an_embedded_dataset():
    answer = runner.invoke(app, ["data", "splits", "digits", "--seed", "3", "--json"])
    reports = {report["name"]: report for report in json.loads(answer.stdout)["splits"]}
    assert set(reports) == {"uniform", "uniform-50", "balanced", "balanced-torch", "per-class"}
    assert reports["uniform"]["sizes"] == {"train": 1078, "val": 359, "test": 360}


@pytest.mark.parametrize("command", ["list", "fetch", "check", "splits"])
def test_every_command_has_an_example(command):
    assert "Example: chebnet2d data" in runner.invoke(app, ["data", command, "--help"]).output


def test_errors_are_one_sentence_and_exit_code_2():
    code = "import sys; from chebnet2d.cli import main; sys.argv[1:] = ['data', 'check', 'cora']; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("chebnet2d: load: cora must be below the data root")
    assert len(done.stderr.splitlines()) == 1


def test_the_docs_page_has_every_dataset_as_the_catalogue_has_it():
    page = (Path(__file__).resolve().parents[1] / "docs" / "data.md").read_text()
    for entry in CATALOGUE.values():
        known = entry.statistics
        counts = (known.nodes, known.edges, known.features, known.classes)
        assert f"| `{entry.name}` | {' | '.join(f'{count:,}' for count in counts)} |" in page
        metric = "ROC-AUC" if entry.metric == "roc_auc" else "accuracy"
        assert (
            f"| `{entry.name}` | {metric} | `{entry.protocol}` | {entry.fixed or 'none'} | {entry.licence} | {entry.source} |"
            in page
        )
        for trouble in entry.trouble:
            assert trouble in page
    for name in PROTOCOLS:
        assert f"| `{name}` |" in page

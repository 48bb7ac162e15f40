"""The commands ``data list`` and ``data splits``, without any file."""

import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import raw_formats as raw
from chebnet2d.cli import app
from paper_datasets import PAPER

pytestmark = pytest.mark.usefixtures("own_folders")
runner = CliRunner()


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
    [(80, "split, metric, homophily"), (100, "split, metric"), (120, None), (40, "split, metric, homophily")],
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
    text = _in_a_terminal(monkeypatch, 60, "splits", "digits", "--kind", "uniform")
    assert "…" not in text
    assert re.search(r"train +1,078 +60\.0 %( +\d+){10}", text)


def test_a_wrong_seed_is_one_complaint():
    answer = runner.invoke(app, ["data", "splits", "digits", "--seed", "-1"])
    assert answer.exit_code == 2
    assert answer.output == "chebnet2d: data splits: --seed must be an integer >= 0, got -1.\n"


def test_splits_of_an_embedded_dataset():
    answer = runner.invoke(app, ["data", "splits", "digits", "--seed", "3", "--json"])
    reports = {report["name"]: report for report in json.loads(answer.stdout)["splits"]}
    assert set(reports) == {"uniform", "uniform-50", "balanced", "balanced-torch", "per-class", "stratified", "k-fold"}
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

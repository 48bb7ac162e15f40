"""``chebnet2d study``: run, status, table and export."""

import json
import os

import pytest

from chebnet2d.reports.timings import METHODS
from chebnet2d.study import Store, run_study
from small_study import small


def test_commands(preset, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(
        f'methods = ["chebnet2d"]\ndatasets = ["csbm"]\nsplits = 2\ninits = 1\nepochs = 5\n[presets]\nchebnet2d = "{preset}"\n'
    )

    command("study", "run", "p.toml", "--log", "log.txt")
    assert "2 runs in" in (tmp_path / "log.txt").read_text()
    status = json.loads(command("study", "status", "--json").out)
    assert (status["done"], status["runs"]) == (2, 2)
    assert "ChebNet2D" in command("study", "table").out
    assert json.loads(command("study", "table", "--format", "json").out)["cells"][0]["runs"] == 2
    for name in ("r.csv", "r.parquet", "r.json"):
        command("study", "export", "--out", name)
        assert (tmp_path / name).stat().st_size > 100


def test_a_study_with_a_search_prints_its_budgets(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(
        'methods = ["chebnet2d", "mlp"]\ndatasets = ["csbm"]\nsplits = 2\ninits = 1\nepochs = 6\n'
        "[search]\ntrials = 2\nrungs = [3]\nsplits = [7]\n[search.space]\nlr = [0.01, 0.1]\n"
    )
    printed = command("study", "run", "p.toml").out
    budgets = json.loads(command("study", "status", "--json").out)["search"]
    assert [(one["method"], one["planned"], one["done"], one["left"], one["epochs"]) for one in budgets] == [
        ("chebnet2d", 2, 2, 1, 9),
        ("mlp", 2, 2, 1, 9),
    ]
    table = command("study", "table").out
    assert "| ChebNet2D | 2 | 2 | 1 | 9 |" in table
    assert "left at rungs" in printed
    assert "rungs" not in command("study", "table", "--format", "csv").out


def test_what_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("chebnet2d.study.run.make_plan", lambda *_: pytest.fail("the work began"))
    (tmp_path / "file").write_text("")
    run = ("study", "run", "--methods", "mlp", "--datasets", "csbm")
    assert "study run: --store must be a file, got the folder '..'." in command(*run, "--store", "..").err
    assert "study run: --store must be in a folder, got 'file/s.sqlite'" in command(*run, "--store", "file/s.sqlite").err
    assert "study run: --log must be a file, got the folder '..'." in command(*run, "--log", "..").err
    for kind, name in (("table", "x.md"), ("export", "x.csv")):
        assert (
            f"study {kind}: --out must be in a folder, got 'file/{name}'" in command("study", kind, "--out", f"file/{name}").err
        )
    assert "study table: --out must be a file, got the folder '..'." in command("study", "table", "--out", "..").err
    assert "study table: --out must be a file, got '/dev/null'" in command("study", "table", "--out", "/dev/null").err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_table_does_not_replace_its_store_and_is_whole_or_not_at_all(preset, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    run_study(small(preset, datasets=("csbm",), splits=2, inits=1, epochs=2), "s.json")
    os.link("s.json", "other.json")
    table = ("study", "table", "--store", "s.json", "--out")
    for arguments in ((*table, "s.json"), (*table, "other.json"), ("study", "export", "--store", "s.json", "--out", "s.json")):
        assert "--out must be another file than those that are read" in command(*arguments).err
    with Store("s.json", create=False) as store:
        assert len(list(store.rows())) == 2
    command(*table, "t.md")
    before = (tmp_path / "t.md").read_text()
    assert "ChebNet2D" in before

    class Full(Exception):
        pass

    def half(path, text, **_):
        path.write_bytes(text[:9].encode())
        raise Full

    monkeypatch.setattr("pathlib.Path.write_text", half)
    with pytest.raises(Full):
        command(*table, "t.md")
    assert (tmp_path / "t.md").read_text() == before
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--table", "1"),
        ("--table", "4"),
        ("--methods", "mlp"),
        ("--datasets", "csbm"),
        ("--split", "uniform"),
        ("--splits", "1"),
        ("--inits", "10"),
        ("--epochs", "2000"),
        ("--patience", "200"),
    ],
)
def test_a_flag_beside_a_protocol_file_is_refused(flag, value, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text('methods = ["mlp"]\ndatasets = ["csbm"]\nsplits = 2\ninits = 1\nepochs = 2\n')
    assert f"study run: {flag} must be left out beside a protocol file" in command("study", "run", "p.toml", flag, value).err
    assert not (tmp_path / "runs").exists()


def test_flags_that_table_four_does_not_know_are_refused(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    wrong = command("study", "run", "--table", "4", "--splits", "3").err
    assert wrong == "chebnet2d: study run: --splits must be left out beside --table 4, got 3.\n"


def test_table_four_command(tmp_path, monkeypatch, command):
    """The command hands its arguments to the measurement, which has tests of its own."""
    asked = {}

    def measured(folder, **arguments):
        asked.update(arguments, folder=folder)
        return []

    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "table4").mkdir(parents=True)
    monkeypatch.setattr("chebnet2d.reports.timings.table4", measured)
    printed = command("study", "run", "--table", "4", "--datasets", "genius", "--epochs", "3").out
    assert asked["datasets"] == ("genius",)
    assert asked["methods"] == METHODS
    assert asked["epochs"] == 3
    assert "s per epoch" in printed

"""A run that diverges says so, is marked, and costs nothing but itself."""

import json
import math

import pytest

import chebnet2d
from chebnet2d.models import MODELS
from chebnet2d.recipes import Recipe
from chebnet2d.reports import format_table, make_tables
from chebnet2d.study import DatasetCache, Store, export_rows, make_plan, read_rows, train_unit
from chebnet2d.study.rows import describe_unit
from chebnet2d.training import fit_many
from small_study import small


@pytest.mark.parametrize("method", sorted(name for name, model in MODELS.items() if model.trained_by == "gradient"))
def test_a_run_that_diverges_leaves_the_others_of_its_stack_alone(method):
    """Bit for bit, whatever the rate of the one in the middle."""
    data = chebnet2d.data.load("csbm", nodes=60, classes=3, features=8)

    def trained(rate):
        runs = []
        for seed in range(3):
            (run,) = Recipe(method, settings={"lr": rate if seed == 1 else 0.02, "epochs": 4}).runs(
                data, [(chebnet2d.data.split(data, "uniform", seed=seed), seed)]
            )
            runs.append(run)
        return fit_many(runs, data, width=3)

    calm, wild = trained(0.03), trained(1e38)
    assert wild[1].history != calm[1].history
    for r in (0, 2):
        assert wild[r].test == calm[r].test
        assert wild[r].history == calm[r].history
        assert all(math.isfinite(loss) for loss in calm[r].history.val_loss)


@pytest.fixture
def one_of_ten(preset, tmp_path):
    """A store of ten runs of which one diverged in its first epoch: its loss is NaN, and all its answers the first class."""
    protocol, cache = small(preset, datasets=("csbm",), splits=5, inits=2, epochs=2, width=10), DatasetCache()
    (unit,) = make_plan(protocol, cache)
    rows, seconds = train_unit(cache, unit)
    rows[3] |= {"val_loss": None, "test": {**rows[3]["test"], "accuracy": 0.2}}
    with Store(tmp_path / "s.sqlite") as store:
        store.begin(protocol, [unit])
        store.commit(unit, rows)
    return tmp_path / "s.sqlite", describe_unit(unit, rows, seconds), [row["test"]["accuracy"] for row in rows]


def test_log_store_and_tables_say_so(one_of_ten, command):
    path, line, scores = one_of_ten
    assert line.count("diverged") == 1
    rows = read_rows(path)
    (table,) = make_tables(rows)
    cell = table.cells["chebnet2d", "csbm"]
    assert (cell.summary.runs, cell.diverged) == (9, 1)
    assert "[1 of 10 diverged]" in command("study", "table", "--store", str(path)).out
    assert "1 of 10 diverged" in format_table(table, "latex")
    status = json.loads(command("study", "status", "--store", str(path), "--json").out, parse_constant=pytest.fail)
    assert (status["done"], status["diverged"], status["cells"][0]["diverged"]) == (10, 1, 1)
    export_rows(path, path.with_suffix(".json"))
    exported = json.loads(path.with_suffix(".json").read_text(), parse_constant=pytest.fail)
    assert [row["val_loss"] is None for row in exported] == [n == 3 for n in range(10)]
    assert 0.2 not in [score for n, score in enumerate(scores) if n != 3]


def test_a_study_of_runs_that_all_diverge_has_a_table(preset, tmp_path):
    file = tmp_path / "preset.toml"
    file.write_text(file.read_text().replace("0.02", "1e38"))
    lines = []
    chebnet2d.study.run_study(small(preset, datasets=("csbm",), splits=2, inits=1), tmp_path / "s.sqlite", log=lines.append)
    rows = read_rows(tmp_path / "s.sqlite")
    json.dumps(rows, allow_nan=False)
    assert format_table(make_tables(rows))
    assert lines

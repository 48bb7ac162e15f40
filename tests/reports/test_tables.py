"""Tables of a study: kinds of split, names, marks and formats."""

import json

import pytest

import chebnet2d
from chebnet2d.reports import format_table, make_page, make_table, make_tables
from chebnet2d.study import Protocol, Store, run_study
from small_study import small
from table_rows import study_row


def test_two_ways_of_splitting_have_a_table_each(preset, tmp_path):
    protocol = small(preset, datasets=("csbm",), split=("uniform", "balanced"), splits=2, inits=1, epochs=3)
    run_study(protocol, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        rows = list(store.rows())
        assert store.protocol == protocol
    assert sorted((row["split"], row["split_seed"]) for row in rows) == [(s, n) for s in ("balanced", "uniform") for n in (0, 1)]
    with pytest.raises(chebnet2d.InputError, match="rows must have one kind of split, got balanced, uniform"):
        make_table(rows)
    uniform, balanced = make_tables(rows)
    assert (uniform.split, balanced.split) == ("uniform", "balanced")
    mean = sum(row["test"]["accuracy"] for row in rows if row["split"] == "balanced") / 2
    assert balanced.cells["chebnet2d", "csbm"].summary.mean == pytest.approx(mean)
    text = format_table([uniform, balanced])
    assert text.index("split `uniform`") < text.index("split `balanced`")


def test_a_method_that_is_not_known_here_has_its_name_in_tables(tmp_path, command):
    """As of a study of the user's own file, when the command line makes the table."""

    class Mine(chebnet2d.models.MLPClassifier):
        pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(chebnet2d.models.MODELS, "mine", Mine)
        run_study(Protocol(("mine",), ("csbm",), splits=2, inits=1, epochs=2), tmp_path / "s.sqlite")
        assert "| MLP |" in command("study", "table", "--store", str(tmp_path / "s.sqlite")).out
    for style in ("markdown", "latex"):
        assert "mine" in command("study", "table", "--store", str(tmp_path / "s.sqlite"), "--format", style).out
    assert "| mine (unified) |" in format_table(make_table([study_row("mine:unified", "cora", "uniform", 0.5, 0)]))


def test_table_marks_and_formats():
    rows = []
    for method, level in (("chebnet2d", 0.9), ("mlp", 0.899), ("gcn", 0.5)):
        for split in range(5):
            noise = 0.01 * ((split * 7) % 5 - 2)
            rows.append(
                {
                    "method": method,
                    "dataset": "cora",
                    "split_seed": split,
                    "test": {"accuracy": level + noise * (1 if method != "mlp" else -1)},
                    "metric": "accuracy",
                    "split": "uniform",
                    "train_nodes": 60,
                    "test_nodes": 20,
                }
            )
    table = make_table(rows, {"chebnet2d": {"cora": 89.96}})
    cells = {method: table.cells[method, "cora"] for method in table.methods}
    assert [cells[m].rank for m in ("chebnet2d", "mlp", "gcn")] == [1, 2, 3]
    assert cells["mlp"].level_with_best
    assert not cells["gcn"].level_with_best
    assert table.ranks == {"chebnet2d": 1.0, "mlp": 2.0, "gcn": 3.0}
    markdown = format_table(table)
    assert "| ChebNet2D | **90.00 ±" in markdown
    assert "(89.96)" in markdown
    assert "_89.90" in markdown
    latex = format_table(table, "latex")
    assert r"$\mathbf{90.00 \pm" in latex
    assert r"{\scriptsize(89.96)}" in latex
    assert r"\underline{$89.90" in latex
    assert json.loads(format_table(table, "json"))["cells"][0]["published"] == 89.96
    assert format_table(table, "csv").splitlines()[0].startswith("method,dataset,split,metric,mean,std,half_width")


def test_runs_that_diverged_are_left_out_and_shown():
    scores = {"mlp": [0.9, None, 0.8], "gcn": [None, float("nan"), None], "appnp": [0.7, 0.7, 0.7]}
    rows = [study_row(method, "cora", "uniform", score, seed) for method, of in scores.items() for seed, score in enumerate(of)]
    rows += [study_row(method, "texas", "uniform", 0.5, seed) for method in scores for seed in range(3)]
    tables = make_tables(rows, {"gcn": {"cora": 80.0}, "mlp": {"cora": 90.0}})
    cells = tables[0].column("cora")
    assert (cells["mlp"].summary.mean, cells["mlp"].summary.runs, cells["mlp"].diverged) == (pytest.approx(0.85), 2, 1)
    assert [cells[method].rank for method in ("mlp", "appnp", "gcn")] == [1, 2, 3]
    assert tables[0].ranks == {"mlp": 2.0, "gcn": 2.0, "appnp": 2.0}, "over the datasets where all have a number"
    markdown = format_table(tables)
    assert "[1 of 3 diverged] (90.00)" in markdown
    assert "| diverged (80.00) |" in markdown
    records = json.loads(format_table(tables, "json"))["cells"]
    assert [(r["method"], r["dataset"]) for r in records if r["mean"] is None] == [("gcn", "cora")]
    for style in ("latex", "csv"):
        assert "diverged" in format_table(tables, style)
    assert "| cora | 1 | -5.0 (5.0) |" in make_page(tables, rows, {})


def test_equal_accuracies_are_ties_whatever_the_order_of_the_sum():
    scores = {"mlp": (0.1, 0.2, 0.3), "gcn": (0.3, 0.2, 0.1), "appnp": (0.1, 0.1, 0.1), "gprgnn": (0.3, 0.1, 0.2)}
    rows = [study_row(method, "cora", "uniform", score, seed) for method, of in scores.items() for seed, score in enumerate(of)]
    table = make_table(rows)
    means = {table.cells[method, "cora"].summary.mean for method in ("mlp", "gcn", "gprgnn")}
    assert len(means) > 1, "an example whose sums are equal to the last bit would prove nothing"
    assert [table.cells[method, "cora"].rank for method in table.methods] == [1, 1, 4, 1]
    assert table.ranks == {"mlp": 2, "gcn": 2, "appnp": 4, "gprgnn": 2}
    markdown, latex = format_table(table), format_table(table, "latex")
    assert markdown.split("\n\n")[0].count("**20.00 ±") == 3
    assert "_10.00" not in markdown, "after three that are best there is no second"
    assert latex.count(r"$\mathbf{20.00 \pm") == 3


def test_a_method_is_level_if_it_is_with_all_that_are_best():
    scores = {"a": (0.5, 0.6, 0.7, 0.8), "b": (0.8, 0.7, 0.6, 0.5), "c": (0.49, 0.59, 0.691, 0.79)}
    rows = [study_row(method, "cora", "uniform", score, seed) for method, of in scores.items() for seed, score in enumerate(of)]
    assert not make_table(rows).cells["c", "cora"].level_with_best, "always a point below a, which is as good as b"
    assert make_table([row for row in rows if row["method"] != "a"]).cells["c", "cora"].level_with_best


def test_a_split_for_each_dataset_makes_one_table():
    rows = [study_row("mlp", "cora", "uniform", 0.5, seed) for seed in range(2)]
    rows += [study_row("mlp", "texas", "uniform", 0.5, seed) for seed in range(2)]
    rows += [study_row("mlp", "tolokers", "fixed", 0.5, seed) for seed in range(2)]
    (table,) = make_tables(rows)
    assert table.splits == {"cora": "uniform", "texas": "uniform", "tolokers": "fixed"}
    assert "split `uniform` (`fixed` for tolokers)" in format_table(table)
    assert [cell["split"] for cell in json.loads(format_table(table, "json"))["cells"]] == ["uniform", "uniform", "fixed"]
    both = make_tables([*rows, study_row("mlp", "cora", "fixed", 0.5, 0)])
    assert [one.datasets for one in both] == [("cora", "texas"), ("tolokers", "cora")]


def test_a_run_that_kept_no_finite_loss_diverged_whatever_its_score():
    """Where all answers are NaN the accuracy is that of the first class."""
    rows = [study_row("mlp", "cora", "uniform", 0.8, seed) | {"val_loss": 0.5} for seed in range(9)]
    table = make_table([*rows, study_row("mlp", "cora", "uniform", 0.3, 9) | {"val_loss": None}])
    cell = table.cells["mlp", "cora"]
    assert (cell.summary.mean, cell.summary.runs, cell.diverged) == (pytest.approx(0.8), 9, 1)
    assert "[1 of 10 diverged]" in format_table(table)


@pytest.mark.parametrize("test", [{}, {"accuracy": None}])
def test_runs_without_test_nodes_have_no_number_and_did_not_diverge(test):
    rows = [study_row("mlp", "cora", "uniform", None, seed) | {"test": test, "test_nodes": 0} for seed in range(3)]
    table = make_table(rows)
    assert "no test nodes" in format_table(table)
    assert "diverged" not in format_table(table)
    (cell,) = json.loads(format_table(table, "json"), parse_constant=pytest.fail)["cells"]
    assert (cell["mean"], cell["diverged"], cell["without_test"]) == (None, 0, 3)
    mixed = make_table([*rows, study_row("mlp", "cora", "uniform", 0.5, 3)])
    assert "50.00 [3 of 4 without test nodes]" in format_table(mixed).replace("**", "")

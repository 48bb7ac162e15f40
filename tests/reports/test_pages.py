"""The page of results: cells below the paper, notes and origins."""

import json

import pytest

import chebnet2d
from chebnet2d.reports import make_page, make_tables, read_notes
from chebnet2d.reports.sections.against_paper import describe_excesses, describe_shortfalls
from chebnet2d.reports.sections.protocol import describe_choices, describe_origins, kind_of
from chebnet2d.study import Protocol, run_study
from small_study import small
from table_rows import study_row, trial_row


def test_cells_below_the_paper_have_a_line_with_a_reason(tmp_path):
    scores = {("gcn", "cora"): (0.80, 0.86), ("gcn", "texas"): (0.50, 0.52), ("appnp", "cora"): (0.87, 0.872)}
    rows = [
        study_row(method, dataset, split, score, seed)
        for (method, dataset), pair in scores.items()
        for split, score in zip(("uniform", "balanced"), pair, strict=True)
        for seed in range(2)
    ]
    published = {"gcn": {"cora": 87.0, "texas": 60.0}, "appnp": {"cora": 90.0}}
    tables = make_tables(rows, published)
    (tmp_path / "notes.toml").write_text('[gcn]\ntexas = "two reasons."\n')
    text = describe_shortfalls(tables, read_notes(tmp_path / "notes.toml"))
    assert "- GCN on texas (uniform 50.00, balanced 52.00; paper 60.00): two reasons.\n" in text
    assert "- GCN on cora (uniform 80.00, balanced 86.00; paper 87.00): not looked into.\n" in text
    assert "APPNP" not in text, "three points below exactly is not more than three"
    assert text.count("\n- ") == 2


def test_a_page_names_means_of_cells_and_refuses_cells_that_are_not_there():
    rows = [study_row("gcn", "cora", split, score, 0) for split, score in (("uniform", 0.8), ("balanced", 0.9))]
    tables = make_tables(rows, {"gcn": {"cora": 85.0}})
    notes = {
        "page": {"intro": "Here {balanced gcn cora}, {not a cell at all}."},
        "gcn": {"cora": "balanced splits have {balanced gcn cora}"},
    }
    page = make_page(tables, rows, notes)
    assert page.startswith("Here 90.00, {not a cell at all}.\n")
    assert "(uniform 80.00, balanced 90.00; paper 85.00): balanced splits have 90.00.\n" in page
    assert "| dataset | methods | uniform | balanced |\n|---|---|---|---|\n| cora | 1 | -5.0 (5.0) | +5.0 (5.0) |\n" in page
    with pytest.raises(chebnet2d.InputError, match="{uniform gcn texas} in the notes must name a split, a method and a dataset"):
        make_page(tables, rows, {"page": {"intro": "{uniform gcn texas}"}})


SECTIONS = (
    "A page.",
    "## Protocol",
    "## Budgets",
    "## Results",
    "| method | csbm |",
    "## Ranks",
    "## Runs that end",
    "## Where the settings",
)


def test_a_page_has_its_sections_in_order(preset, tmp_path, command):
    run_study(small(preset, datasets=("csbm",), splits=2, inits=1, epochs=2), tmp_path / "s.sqlite")
    (tmp_path / "notes.toml").write_text('[page]\nintro = "A page."\n')
    arguments = ["study", "table", "--store", str(tmp_path / "s.sqlite"), "--notes", str(tmp_path / "notes.toml")]
    page = command(*arguments).out
    places = [page.index(part) for part in SECTIONS]
    assert places == sorted(places)
    assert "| ChebNet2D | p |" in page
    assert "the paper's" not in page, "it has no number of this dataset"
    assert "| ChebNet2D | 2 of 2 | 100.0 % | csbm 2 |" in page
    again = "--splits 2 --inits 1 --epochs 2 --patience 200 --store runs/one-cell.sqlite`\n"
    assert f"`chebnet2d study run --methods chebnet2d --datasets csbm --split uniform {again}" in page
    assert "--notes must come with --format markdown, got it with 'latex'" in command(*arguments, "--format", "latex").err


def test_cells_above_the_paper_are_listed_too():
    scores = {("gcn", "cora"): 0.90, ("gcn", "texas"): 0.50, ("appnp", "cora"): 0.90}
    rows = [study_row(*cell, "uniform", score, seed) for cell, score in scores.items() for seed in range(2)]
    tables = make_tables(rows, {"gcn": {"cora": 86.0, "texas": 46.0}, "appnp": {"cora": 87.0}})
    text = describe_excesses(tables)
    assert "- GCN: cora (uniform 90.00; paper 86.00), texas (uniform 50.00; paper 46.00).\n" in text
    assert "APPNP" not in text, "three points above exactly is not more than three"
    page = make_page(tables, rows, {})
    assert page.index("points below the paper's\n\nNone.") < page.index("points above the paper's\n\n- GCN")


def test_a_page_of_a_study_with_a_search():
    rows = [
        study_row(m, d, "uniform", 0.5 + 0.1 * (m == "gcn"), s) for m in ("gcn", "mlp") for d in ("cora", "texas") for s in (0, 1)
    ]
    trials = [trial_row(m, d, n, 0.5 + 0.1 * n, 100) for m in ("gcn", "mlp") for d in ("cora", "texas") for n in range(3)]
    trials[0] |= {"pruned": True, "epochs": 10}
    page = make_page(make_tables(rows), rows + trials, {}, "gcn")
    assert "| GCN | 6 | 6 | 1 | 260 | 4 | 240 |" in page
    assert "Budgets are equal: on every dataset each method had the same trials, runs, epochs at most and patience." in page
    assert "| method | 1 | 2 | 3 |" in page, "ranks after 1, 2, 4, ... trials and after all"
    assert "| MLP | **+10.00** (100/0/0) | **+10.00** (100/0/0) | 2/0/0 |" in page
    assert "study run cell.toml" in page
    fewer = make_page(make_tables(rows), rows + trials[:-1], {})
    assert "Budgets are **not** equal:\n\n- texas, uniform: trials differ (GCN 3, MLP 2).\n" in fewer


def test_comparisons_stand_below_a_table_and_in_json(tmp_path, command):
    run_study(Protocol(("mlp", "chebnet2d"), ("csbm",), splits=2, inits=1, epochs=2), tmp_path / "s.sqlite")
    arguments = ["study", "table", "--store", str(tmp_path / "s.sqlite"), "--reference", "chebnet2d"]
    assert "## ChebNet2D against the others\n\n| against | csbm | won/level/lost |" in command(*arguments).out
    (found,) = json.loads(command(*arguments, "--format", "json").out)["comparisons"]
    assert (found["reference"], found["method"], found["splits"]) == ("chebnet2d", "mlp", 2)
    assert sum(found["probabilities"].values()) == pytest.approx(1)
    assert "--reference must come with --format markdown or json" in command(*arguments, "--format", "csv").err
    arguments[-1] = "gcn"
    sentence = "study table: --reference must be one of the methods with finished runs, 'mlp', 'chebnet2d', got 'gcn'"
    assert sentence in command(*arguments).err


@pytest.mark.parametrize(
    ("origin", "letter"),
    [
        ("found by search: tpe", "s"),
        ("default of the class", "d"),
        ("ivam-he/ChebNetII: full.sh", "p"),
        ("no published setting for all", "d"),
    ],
)
def test_origins_are_told_apart(origin, letter):
    assert kind_of(origin) == letter


def test_what_a_search_kept_is_told_from_what_it_found():
    """GCN keeps the published trial 0 on Cora and finds trial 2 on Texas; the MLP, chosen on each split, has another on each."""
    kept, found = "found by search: trial 0 (the start: its/authors: run.sh) of 3", "found by search: trial 2 of 3"
    cells = {
        ("gcn", "cora"): [(0, kept), (0, kept)],
        ("gcn", "texas"): [(2, found), (2, found)],
        ("mlp", "cora"): [(2, found), (0, kept)],
        ("mlp", "texas"): [(None, "found by search: tpe"), (None, "found by search: tpe")],
    }
    rows = [
        study_row(*cell, "uniform", 0.5, seed) | {"trial": number, "config": {"origin": origin}}
        for cell, runs in cells.items()
        for seed, (number, origin) in enumerate(runs)
    ]
    text = describe_origins([*rows, trial_row("gcn", "cora", 0, 0.5, 100)])
    assert "| GCN | p | s2 |\n| MLP | s | s |\n" in text
    assert "p or d: trial 0, which that search kept." in text
    assert "trial 0" not in describe_origins(rows)


def test_the_numbers_of_a_choice_are_those_of_the_chosen_trials():
    """GCN has one choice for Cora, by two development splits; the MLP one on each reported split."""
    reports = [study_row("gcn", "cora", "uniform", 0.1, seed, trial=2) for seed in (0, 1)]
    reports += [study_row("mlp", "cora", "uniform", 0.9, seed, trial=number) for seed, number in ((0, 1), (1, 0))]
    trials = [trial_row("gcn", "cora", n, score, seed) for n, score, seed in ((1, 0.9, 100), (2, 0.6, 100), (2, 0.7, 101))]
    trials += [
        trial_row("mlp", "cora", n, score, seed) for n, score, seed in ((0, 0.5, 0), (1, 0.6, 0), (0, 0.8, 1), (1, 0.2, 1))
    ]
    text = describe_choices([*reports, *trials])
    assert "| GCN | 65.00 |\n| MLP | **70.00** |\n" in text
    assert describe_choices(reports) == ""


@pytest.mark.parametrize("content", ["gcn = 3", "[gcn]\ntexas = 3", "no toml"])
def test_notes_that_are_none_are_refused(content, tmp_path):
    (tmp_path / "notes.toml").write_text(content)
    with pytest.raises(chebnet2d.InputError, match="read_notes: "):
        read_notes(tmp_path / "notes.toml")
    with pytest.raises(chebnet2d.InputError, match="must be a TOML file, got .* which does not exist"):
        read_notes(tmp_path / "other.toml")

"""The page of results: cells below the paper, notes and origins."""

import pytest

import chebnet2d
from chebnet2d.reports import make_tables
from chebnet2d.reports.origins import kind_of
from chebnet2d.reports.pages import make_page, read_notes
from chebnet2d.reports.shortfalls import describe_shortfalls, find_shortfalls
from chebnet2d.study import run_study
from small_study import small
from table_rows import study_row


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
    found = {(one.method, one.dataset): one.ours for one in find_shortfalls(tables)}
    assert set(found) == {("gcn", "cora"), ("gcn", "texas")}, "three points below exactly is not more than three"
    assert found["gcn", "cora"] == pytest.approx({"uniform": 80.0, "balanced": 86.0})
    (tmp_path / "notes.toml").write_text('[gcn]\ntexas = "two reasons."\n')
    text = describe_shortfalls(tables, read_notes(tmp_path / "notes.toml"))
    assert "- GCN on texas (uniform 50.00, balanced 52.00; paper 60.00): two reasons.\n" in text
    assert "- GCN on cora (uniform 80.00, balanced 86.00; paper 87.00): not looked into.\n" in text
    assert "APPNP" not in text


def test_a_page_names_means_of_cells_and_refuses_cells_that_are_not_there():
    rows = [
        study_row("gcn", "cora", split, score, 0) | {"config": {"origin": "default"}}
        for split, score in (("uniform", 0.8), ("balanced", 0.9))
    ]
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


def test_a_page_has_intro_tables_origins_and_reasons(preset, tmp_path, command):
    run_study(small(preset, datasets=("csbm",), splits=2, inits=1, epochs=2), tmp_path / "s.sqlite")
    (tmp_path / "notes.toml").write_text('[page]\nintro = "A page."\n')
    arguments = ["study", "table", "--store", str(tmp_path / "s.sqlite"), "--notes", str(tmp_path / "notes.toml")]
    page = command(*arguments, "--paper", "1").out
    places = [page.index(part) for part in ("A page.", "| method | csbm |", "## Where the settings", "## Cells more than 3")]
    assert places == sorted(places)
    assert "| ChebNet2D | p |" in page
    assert "--notes must stand beside --paper" in command(*arguments).err


@pytest.mark.parametrize(
    ("origin", "letter"), [("found by search: tpe", "s"), ("default of the class", "d"), ("ivam-he/ChebNetII: full.sh", "p")]
)
def test_origins_are_told_apart(origin, letter):
    assert kind_of(origin) == letter


@pytest.mark.parametrize("content", ["gcn = 3", "[gcn]\ntexas = 3", "no toml"])
def test_notes_that_are_none_are_refused(content, tmp_path):
    (tmp_path / "notes.toml").write_text(content)
    with pytest.raises(chebnet2d.InputError, match="read_notes: "):
        read_notes(tmp_path / "notes.toml")
    with pytest.raises(chebnet2d.InputError, match="must be a TOML file, got .* which does not exist"):
        read_notes(tmp_path / "other.toml")

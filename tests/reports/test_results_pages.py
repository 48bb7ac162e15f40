"""The pages of results/ are what their commands print from the committed runs."""

from pathlib import Path

import pytest

from chebnet2d.reports import make_page, make_tables, published_numbers, read_notes
from chebnet2d.study import read_rows, read_trials

RESULTS = Path(__file__).parents[2] / "results"
PAGES = {
    "baselines": (4200, 0, "1", "chebnet2d"),
    "table1": (960, 2304, "1", "chebnet2d"),
    "table2": (99, 88, None, "chebnet2d"),
    "table3": (960, 5120, None, "2-D by values"),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_is_made_of_the_committed_runs(name):
    runs, tried, paper, reference = PAGES[name]
    rows, trials = read_rows(RESULTS / f"{name}.parquet"), read_trials(RESULTS / f"{name}.parquet")
    assert (len(rows), len(trials)) == (runs, tried)
    notes = read_notes(RESULTS / f"{name}-notes.toml")
    tables = make_tables(rows, None if paper is None else published_numbers()[paper])
    page = make_page(tables, [*rows, *trials], notes, reference)
    assert page == (RESULTS / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["table1", "table2", "table3"])
def test_budgets_of_a_searched_study_are_equal(name):
    page = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert "Budgets are equal: on every dataset each method had the same trials" in page

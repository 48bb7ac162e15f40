"""results/baselines.md is what its commands print from the committed runs."""

from pathlib import Path

from chebnet2d.reports import make_page, make_tables, published_numbers, read_notes
from chebnet2d.study import read_rows

RESULTS = Path(__file__).parents[2] / "results"


def test_the_committed_page_is_made_of_the_committed_runs():
    rows = read_rows(RESULTS / "baselines.parquet")
    assert len(rows) == 4200
    page = make_page(make_tables(rows, published_numbers()["1"]), rows, read_notes(RESULTS / "baselines-notes.toml"))
    assert page == (RESULTS / "baselines.md").read_text(encoding="utf-8")

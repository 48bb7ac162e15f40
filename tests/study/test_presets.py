"""From the search of a study to preset files."""

import json
from pathlib import Path

import pytest

from chebnet2d import InputError
from chebnet2d.recipes import load_recipe
from chebnet2d.study import read_rows
from chebnet2d.study.presets import presets_of
from cli_runner import run

RESULTS = Path(__file__).parents[2] / "results"


def test_presets_are_the_settings_of_the_reported_runs(tmp_path):
    store = RESULTS / "table2.parquet"
    run("study", "presets", "--store", store, "--out", tmp_path / "presets")
    rows = read_rows(store)
    methods = {row["method"] for row in rows}
    assert {path.stem for path in (tmp_path / "presets").iterdir()} == methods
    for row in rows:
        recipe = load_recipe(row["method"], row["dataset"], tmp_path / "presets" / f"{row['method']}.toml")
        assert recipe.to_json() == row["config"]
    again = run("study", "presets", "--store", store, "--out", tmp_path / "presets", "--json")  # its own files are replaced
    assert json.loads(again.stdout)[str(tmp_path / "presets" / "gcn.toml")][0]["origin"].startswith("found by search: trial ")


def test_files_of_others_stay(tmp_path):
    (tmp_path / "gcn.toml").write_text("[cora]\n")
    run("study", "presets", "--store", RESULTS / "table2.parquet", "--out", tmp_path, code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["gcn.toml"]


def test_a_nested_search_has_no_settings_of_a_dataset():
    with pytest.raises(InputError, match=r"one choice for each method and dataset, got several for .* mode = \"development\""):
        presets_of(read_rows(RESULTS / "table3.parquet"))


def test_a_study_without_a_search():
    with pytest.raises(InputError, match="runs whose settings its search chose, got none"):
        presets_of(row for row in read_rows(RESULTS / "baselines.parquet")[:10])

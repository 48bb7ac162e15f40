"""Layouts of rows: a store and an export of schema 1 are read, one of a newer schema is refused."""

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

import chebnet2d
from chebnet2d.reports import format_table, make_tables
from chebnet2d.study import DatasetCache, Protocol, Store, export_rows, make_plan, read_rows, run_study
from chebnet2d.study.schema import COLUMNS, SCHEMA
from small_study import PRESET

OLD = (Path(__file__).parent / "schema1.sql").read_text()
PROTOCOL = {"datasets": ("digits",), "splits": 2, "inits": 2, "epochs": 5, "width": 1, "presets": {"chebnet2d": "preset.toml"}}


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A store of schema 1, as the code of that time wrote it, beside the preset that it was run with."""
    monkeypatch.chdir(tmp_path)
    Path("preset.toml").write_text(PRESET)
    with contextlib.closing(sqlite3.connect("old.sqlite")) as connection:
        connection.executescript(OLD)
    return Path("old.sqlite")


def raw(path, query):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(query).fetchall()


def test_a_store_of_schema_1_becomes_one_of_schema_2(old):
    before = dict(raw(old, "SELECT run_id, test_accuracy FROM runs"))
    losses = dict(raw(old, "SELECT run_id, val_loss FROM runs"))
    rows = read_rows(old)
    assert len(rows) == len(before) == 8
    assert {row["run_id"]: row["test"] for row in rows} == {run: {"accuracy": score} for run, score in before.items()}
    assert {row["run_id"]: row["val_loss"] for row in rows} == losses
    assert tuple(rows[0]) == COLUMNS
    assert raw(old, "SELECT value FROM meta WHERE key = 'schema'") == [(str(SCHEMA),)]
    assert [column[1] for column in raw(old, "PRAGMA table_info(runs)")] == list(COLUMNS)
    assert read_rows(old) == rows, "the second time there is nothing to do"
    assert "digits" in format_table(make_tables(rows))


def test_the_study_goes_on_and_finds_its_units(old):
    protocol = Protocol(("chebnet2d", "mlp"), **PROTOCOL)
    run_study(protocol, old, progress=pytest.fail)
    with Store(old) as store:
        assert store.protocol == protocol
        assert store.finished() == {unit.id for unit in make_plan(protocol, DatasetCache())}


def test_a_migration_that_fails_changes_nothing(old):
    raw(old, "UPDATE runs SET config = '{' WHERE split_seed = 1")
    with pytest.raises(chebnet2d.InputError, match=r"path must be the file of a study, got 'old.sqlite': Expecting"):
        Store(old)
    assert raw(old, "SELECT COUNT(test_accuracy) FROM runs") == [(8,)]
    assert raw(old, "SELECT value FROM meta WHERE key = 'schema'") == [("1",)]


def test_a_newer_schema_is_refused(old):
    raw(old, "UPDATE meta SET value = '99' WHERE key = 'schema'")
    with pytest.raises(chebnet2d.InputError, match=r"'old.sqlite' must be of schema 1 to 2, got 99\. A newer version"):
        Store(old)
    assert raw(old, "SELECT COUNT(test_accuracy) FROM runs") == [(8,)]


@pytest.mark.parametrize("ending", [".json", ".parquet"])
def test_an_export_of_schema_1_is_read(ending, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    row = {name: 0 for name in COLUMNS if name != "test"} | {"config": {}, "versions": {}, "machine": {}}
    rows = [
        {**row, "metric": "accuracy", "test_metric": 0.5, "test_accuracy": 0.5, "test_roc_auc": None},
        {**row, "metric": "roc_auc", "test_metric": 0.75, "test_accuracy": 0.5, "test_roc_auc": 0.75},
    ]
    path = tmp_path / f"old{ending}"
    if ending == ".json":
        path.write_text(json.dumps(rows))
    else:
        flat = [{k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()} for row in rows]
        pyarrow.parquet.write_table(pa.Table.from_pylist(flat), path)
    assert [row["test"] for row in read_rows(path)] == [{"accuracy": 0.5}, {"accuracy": 0.5, "roc_auc": 0.75}]
    assert [row["config"] for row in read_rows(path)] == [{}, {}]


def test_csv_has_nested_values_as_json(old, tmp_path):
    import csv

    assert export_rows(old, "rows.csv") == 8
    with Path("rows.csv").open() as file:
        (first, *_) = csv.DictReader(file)
    assert list(first) == list(COLUMNS)
    assert json.loads(first["test"]) == read_rows(old)[0]["test"]

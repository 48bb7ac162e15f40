"""Layouts of rows: stores and exports of schemas 1 and 2 are read, a newer one is refused."""

import contextlib
import hashlib
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import chebnet2d
from chebnet2d.reports import format_table, make_tables
from chebnet2d.study import DatasetCache, Protocol, Store, export_rows, make_plan, read_rows, run_study
from chebnet2d.study.layout import COLUMNS, SINCE_4, STORED
from chebnet2d.study.schema import SCHEMA
from small_study import PRESET

PROTOCOL = {"datasets": ("digits",), "splits": 2, "inits": 2, "epochs": 5, "width": 1, "presets": {"chebnet2d": "preset.toml"}}


@pytest.fixture(params=[1, 2])
def old(request, tmp_path, monkeypatch):
    """A store of an earlier schema, as the code of that time wrote it, beside the preset that it was run with."""
    monkeypatch.chdir(tmp_path)
    Path("preset.toml").write_text(PRESET)
    with contextlib.closing(sqlite3.connect("old.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript((Path(__file__).parent / f"schema{request.param}.sql").read_text())
    return Path("old.sqlite")


def raw(path, query):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(query).fetchall()


def scores(path):
    """Accuracy of every run by its id, read past the package."""
    names = [column[1] for column in raw(path, "PRAGMA table_info(runs)")]
    column = "test_accuracy" if "test_accuracy" in names else "json_extract(test, '$.accuracy')"
    return dict(raw(path, f"SELECT run_id, {column} FROM runs"))


def check_rows(rows, path):
    assert {row["run_id"]: row["test"]["accuracy"] for row in rows} == scores(path)
    assert {row["run_id"]: row["val_loss"] for row in rows} == dict(raw(path, "SELECT run_id, val_loss FROM runs"))
    assert len(rows) == 8
    assert tuple(rows[0]) == COLUMNS
    assert "digits" in format_table(make_tables(rows))


def test_an_older_store_is_read_and_stays_as_it_is(old):
    before = old.read_bytes()
    rows = read_rows(old)
    with Store(old, create=False) as store:
        assert [(cell["done"], cell["runs"], cell["working"]) for cell in store.progress()] == [(4, 4, 0)] * 2
    assert old.read_bytes() == before
    check_rows(rows, old)


def test_an_older_store_becomes_one_of_today_when_it_is_opened_to_write(old):
    rows = read_rows(old)
    with Store(old) as store:
        assert store.rows() == rows
    check_rows(rows, old)
    assert raw(old, "SELECT value FROM meta WHERE key = 'schema'") == [(str(SCHEMA),)]
    assert [column[1] for column in raw(old, "PRAGMA table_info(runs)")] == list(STORED)
    assert len(raw(old, "SELECT DISTINCT checksum FROM runs")) == 8
    assert raw(old, "PRAGMA journal_mode") == [("delete",)]
    before = old.read_bytes()
    with Store(old) as store:
        assert store.rows() == rows
    assert old.read_bytes() == before, "the second time there is nothing to do"


def test_the_study_goes_on_and_finds_its_units(old):
    protocol = Protocol(("chebnet2d", "mlp"), **PROTOCOL)
    run_study(protocol, old, progress=pytest.fail)
    with Store(old) as store:
        assert store.protocol == protocol
        assert store.finished() == {unit.id for unit in make_plan(protocol, DatasetCache())}


def test_a_migration_that_fails_changes_nothing(old):
    raw(old, "UPDATE runs SET config = '{' WHERE split_seed = 1")
    schema, before = raw(old, "SELECT value FROM meta WHERE key = 'schema'"), scores(old)
    with pytest.raises(chebnet2d.InputError, match=r"run '\w+' of 'old.sqlite' must have valid JSON .*, got: Expecting"):
        Store(old)
    assert scores(old) == before
    assert raw(old, "SELECT value FROM meta WHERE key = 'schema'") == schema


def test_a_newer_schema_is_refused(old):
    raw(old, "UPDATE meta SET value = '99' WHERE key = 'schema'")
    before = scores(old)
    for create in (True, False):
        with pytest.raises(chebnet2d.InputError, match=r"'old.sqlite' must be of schema 1 to 4, got 99\. A newer version"):
            Store(old, create=create)
    assert scores(old) == before


def test_a_run_of_schema_1_that_diverged_has_none_for_a_score(old):
    raw(
        old,
        "UPDATE runs SET val_loss = NULL" + (", test_metric = NULL, test_accuracy = NULL" if "test_metric" in names(old) else ""),
    )
    assert {row["test"].get("accuracy") is None for row in read_rows(old)} == {"test_metric" in names(old)}
    assert {row["val_loss"] for row in read_rows(old)} == {None}
    assert "diverged" in format_table(make_tables(read_rows(old)))


def names(path):
    return [column[1] for column in raw(path, "PRAGMA table_info(runs)")]


@pytest.mark.parametrize("ending", [".json", ".parquet"])
@pytest.mark.parametrize("schema", [1, 2, 3])
def test_an_export_of_an_older_schema_is_read(ending, schema, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    numbers = {"split_seed": 0, "seed": 0, "val_metric": 0.5, "val_loss": 1.0, "best_epoch": 1, "epochs": 2, "seconds": 0.1}
    numbers |= {"peak_mib": 1.0, "parameters": 3, "train_nodes": 2, "test_nodes": 2}
    old_columns = [name for name in COLUMNS if name not in SINCE_4]
    row = dict.fromkeys(old_columns, "text") | numbers | {"config": {"origin": "a test"}, "versions": {}, "machine": {"cores": 2}}
    tests = [{"accuracy": 0.5}, {"accuracy": 0.5, "roc_auc": 0.75}]
    rows = [{**row, "run_id": str(n), "metric": list(test)[-1], "test": test} for n, test in enumerate(tests)]
    if schema == 1:
        for old_row, test in zip(rows, tests, strict=True):
            del old_row["test"]
            old_row["test_metric"] = test[old_row["metric"]]
            old_row |= {f"test_{name}": test.get(name) for name in ("accuracy", "roc_auc")}
    if schema == 3:
        for old_row in rows:
            values = [json.dumps(v, sort_keys=True) if isinstance(v, dict) else v for v in map(old_row.get, old_columns)]
            old_row["checksum"] = hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]
    path = tmp_path / f"old{ending}"
    if ending == ".json":
        path.write_text(json.dumps(rows))
    else:
        flat = [{k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()} for row in rows]
        pyarrow.parquet.write_table(pa.Table.from_pylist(flat), path)
    assert [row["test"] for row in read_rows(path)] == tests
    assert [row["machine"] for row in read_rows(path)] == [{"cores": 2}] * 2
    assert {row["kind"] for row in read_rows(path)} == {"report"}


def test_csv_has_nested_values_as_json(old, tmp_path):
    import csv

    assert export_rows(old, "rows.csv") == 8
    with Path("rows.csv").open() as file:
        (first, *_) = csv.DictReader(file)
    assert list(first) == list(STORED)
    assert json.loads(first["test"]) == read_rows(old)[0]["test"]


def test_what_a_killed_process_left_beside_an_older_store_is_read(old):
    """The last runs may be in the WAL alone. To read them there changes neither file."""
    with contextlib.closing(sqlite3.connect(old)) as writer:
        writer.execute("UPDATE runs SET val_loss = 0.25")
        writer.commit()
        Path("killed").mkdir()
        for path in Path().glob("old.sqlite*"):
            shutil.copy(path, "killed")
    Path("killed/old.sqlite-shm").unlink()
    before = {path: path.read_bytes() for path in Path("killed").iterdir()}
    assert sorted(path.name for path in before) == ["old.sqlite", "old.sqlite-wal"]
    assert {row["val_loss"] for row in read_rows("killed/old.sqlite")} == {0.25}
    assert {path: path.read_bytes() for path in Path("killed").iterdir()} == before

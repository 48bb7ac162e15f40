"""The layout of rows: columns of the store and of exported files, and the way from older layouts to this one.

Schema 1 had the columns ``test_metric``, ``test_accuracy`` and ``test_roc_auc``; schema 2 has all test metrics in ``test``.
"""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError

SCHEMA = 2
COLUMNS = (
    *("run_id", "unit_id", "method", "dataset", "split", "split_seed", "seed"),
    *("metric", "test", "val_metric", "val_loss", "best_epoch", "epochs", "seconds", "peak_mib", "parameters"),
    *("config", "dataset_digest", "split_digest", "train_nodes", "test_nodes", "versions", "machine", "finished_at"),
)
NESTED = ("test", "config", "versions", "machine")
"""Columns that hold JSON."""
INSERT = f"INSERT INTO runs VALUES ({', '.join('?' * len(COLUMNS))})"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS units ("
    "unit_id TEXT PRIMARY KEY, position INTEGER NOT NULL, method TEXT NOT NULL, dataset TEXT NOT NULL, runs INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS claims ("
    "unit_id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, process TEXT NOT NULL, at REAL NOT NULL)",
    f"CREATE TABLE IF NOT EXISTS runs ({', '.join(COLUMNS)}, PRIMARY KEY (run_id))",
    "CREATE INDEX IF NOT EXISTS runs_by_unit ON runs (unit_id)",
)


def prepare_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables, or bring those of an older schema to this one; the caller holds a transaction around it."""
    for statement in _TABLES:
        connection.execute(statement)
    found = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    version = SCHEMA if found is None else json.loads(found[0])
    if version not in (1, SCHEMA):
        hint = "A newer version of chebnet2d wrote it: use that one."
        raise InputError("Store", f"{str(path)!r}", f"of schema 1 to {SCHEMA}", got=str(version), hint=hint)
    if version == 1:
        reading = connection.execute("SELECT * FROM runs")
        names = [column[0] for column in reading.description]
        rows = [unnested(dict(zip(names, values, strict=True))) for values in reading]
        connection.execute("DROP TABLE runs")
        for statement in _TABLES:
            connection.execute(statement)
        connection.executemany(INSERT, [stored(row) for row in rows])
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (str(SCHEMA),))


def stored(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """A row as SQLite, CSV and Parquet have it."""
    return tuple(json.dumps(row[name], sort_keys=True) if name in NESTED else row[name] for name in COLUMNS)


def unnested(row: Mapping[str, Any]) -> dict[str, Any]:
    """The opposite of ``stored``, for a row of this schema or of an older one; a KeyError says what it lacks."""
    values = {name: json.loads(value) if name in NESTED and isinstance(value, str) else value for name, value in row.items()}
    if "test" not in values:
        metrics = {name: values[f"test_{name}"] for name in ("accuracy", "roc_auc")}
        values["test"] = {name: value for name, value in metrics.items() if value is not None}
    return {name: values[name] for name in COLUMNS}

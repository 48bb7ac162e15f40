"""The tables of a store, and the way from older ones to these. What a row of ``runs`` is, ``layout`` says."""

import json
from collections.abc import Sequence
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.study.claims import CLAIMS
from chebnet2d.study.database import Connection, refusal
from chebnet2d.study.layout import REPORT, STORED, checksum, restored, stored

SCHEMA = 4
INSERT = f"INSERT INTO runs VALUES ({', '.join('?' * len(STORED))})"
INSERT_UNIT = "INSERT OR IGNORE INTO units VALUES (?, ?, ?, ?, ?, ?, ?)"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS units (unit_id TEXT PRIMARY KEY, position INTEGER NOT NULL, method TEXT NOT NULL, "
    "dataset TEXT NOT NULL, runs INTEGER NOT NULL, kind TEXT NOT NULL, checksum TEXT NOT NULL)",
    CLAIMS,
    f"CREATE TABLE IF NOT EXISTS runs ({', '.join(STORED)}, PRIMARY KEY (run_id))",
    "CREATE INDEX IF NOT EXISTS runs_by_unit ON runs (unit_id)",
)
_UNIT = ("unit_id", "position", "method", "dataset", "runs")
PlannedUnit = tuple[str, int, str, str, int, str]
"""Id, position, method, dataset, number of runs and kind (trials or report)."""


def make_tables(connection: Connection) -> None:
    """Inside a transaction."""
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (str(SCHEMA),))


def check_schema(connection: Connection) -> int:
    """The schema of a store, which must be one that is known here."""
    found = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    version = "none" if found is None else found[0]
    if version not in {str(known) for known in range(1, SCHEMA + 1)}:
        hint = "A newer version of chebnet2d wrote it: use that one." if str(version).isdecimal() else ""
        raise InputError("Store", f"{str(connection.path)!r}", f"of schema 1 to {SCHEMA}", got=str(version), hint=hint)
    return int(version)


def migrate(connection: Connection) -> None:
    """Bring an older store to this schema, inside a transaction. Claims of an earlier version end with it."""
    if check_schema(connection) < SCHEMA:
        rows, units = read_runs(connection), read_units(connection)
        for table in ("runs", "units", "claims"):
            connection.execute(f"DROP TABLE {table}")
        make_tables(connection)
        connection.executemany(INSERT, [stored(row) for row in rows])
        connection.executemany(INSERT_UNIT, [(*unit, checksum(unit)) for unit in units])


def read_units(connection: Connection) -> list[PlannedUnit]:
    """The plan, in its order."""
    units: list[PlannedUnit] = []
    for row in _all(connection, "SELECT * FROM units"):
        if not set(_UNIT) <= set(row) <= {*_UNIT, "kind", "checksum"}:
            raise refusal(connection.path, ", which is damaged: the units have other columns")
        unit = (row["unit_id"], row["position"], row["method"], row["dataset"], row["runs"], row.get("kind", REPORT))
        expected = checksum(unit if "kind" in row else unit[:-1])
        if [type(value) for value in unit] != [str, int, str, str, int, str] or expected != row.get("checksum", expected):
            raise refusal(connection.path, f", which is damaged: the checksum of unit {unit[0]!r} is not that of its values")
        units.append(unit)
    return sorted(units, key=lambda unit: unit[1])


def read_runs(connection: Connection, unit_ids: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """All runs, or those of some units, in the layout of today, in an order that does not depend on when they were done."""
    path = str(connection.path)
    some = "" if unit_ids is None else f" WHERE unit_id IN ({', '.join('?' * len(unit_ids))})"
    found = _all(connection, f"SELECT * FROM runs{some}", unit_ids or ())
    rows = [restored(row, f"run {row.get('run_id')!r} of {path!r}") for row in found]
    units = read_units(connection)
    place, missing = {unit[0]: unit[1] for unit in units}, {unit[0]: unit[4] for unit in units}
    for row in rows:
        if row["unit_id"] not in missing:
            raise refusal(connection.path, f", which is damaged: run {row['run_id']!r} belongs to no unit of the study")
        missing[row["unit_id"]] -= 1
    done = {row["unit_id"] for row in rows}
    if short := [unit for unit in done if missing[unit]]:
        raise refusal(connection.path, f", which is damaged: unit {short[0]!r} has other runs than were planned")
    number = {row["run_id"]: -1 if row["trial"] is None or row["kind"] == REPORT else row["trial"] for row in rows}
    return sorted(rows, key=lambda row: (place[row["unit_id"]], number[row["run_id"]], row["split_seed"], row["seed"]))


def read_meta(connection: Connection, key: str) -> Any:
    """None if it is not there."""
    found = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    try:
        return None if found is None else json.loads(found[0])
    except (TypeError, ValueError, RecursionError) as error:
        raise refusal(connection.path, f", which is damaged: {error}") from None


def _all(connection: Connection, query: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
    reading = connection.execute(query, tuple(values))
    names = [column[0] for column in reading.description]
    return [dict(zip(names, values, strict=True)) for values in reading]

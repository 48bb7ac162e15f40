"""The store of a study: one SQLite file in WAL mode, one row a run.

The contract:
- A unit is finished when all its rows are there; they come in one transaction, so there is no half of it.
- A row is never changed and never written twice: the second writer of a unit finds it finished and drops its own rows.
- A claim says that a process works on a unit. It ends with the unit, or with the process: claims of dead processes are void.
- Several processes on one machine may use the file at once.
"""

import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._targets import check_target
from chebnet2d.study.plan import Unit
from chebnet2d.study.protocol import Protocol

SCHEMA = 1
COLUMNS = (
    "run_id",
    "unit_id",
    "method",
    "dataset",
    "split",
    "split_seed",
    "seed",
    "metric",
    "test_metric",
    "test_accuracy",
    "test_roc_auc",
    "val_metric",
    "val_loss",
    "best_epoch",
    "epochs",
    "seconds",
    "peak_mib",
    "parameters",
    "config",
    "dataset_digest",
    "split_digest",
    "train_nodes",
    "test_nodes",
    "versions",
    "machine",
    "finished_at",
)
NESTED = ("config", "versions", "machine")
"""Columns that hold JSON."""
_TABLES = f"""
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS units (
    unit_id TEXT PRIMARY KEY, position INTEGER NOT NULL, method TEXT NOT NULL, dataset TEXT NOT NULL, runs INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS claims (
    unit_id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, process TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS runs ({", ".join(COLUMNS)}, PRIMARY KEY (run_id));
CREATE INDEX IF NOT EXISTS runs_by_unit ON runs (unit_id);
"""


class Store:
    """See the module for what it guarantees."""

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        check_target("Store", "path", self.path)
        if not create and not self.path.is_file():
            raise InputError("Store", "path", "the file of a study", got=f"{str(self.path)!r}, which does not exist")
        if self.path.is_file() and self.path.stat().st_size and not _is_sqlite(self.path):
            raise InputError("Store", "path", "the file of a study", got=f"{str(self.path)!r}, which is something else")
        if not create and not _is_sqlite(self.path):  # reading must not turn an empty file into a store
            raise InputError("Store", "path", "the file of a study", got=f"{str(self.path)!r}, which is empty")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        except sqlite3.Error as error:
            raise InputError("Store", "path", "the file of a study", got=f"{str(self.path)!r}: {error}") from None
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            with self._transaction():
                for statement in _TABLES.split(";"):
                    self._connection.execute(statement)
                version = self._meta("schema")
                if version is None:
                    self._set_meta("schema", SCHEMA)
                elif version != SCHEMA:
                    raise InputError("Store", f"{str(self.path)!r}", f"of schema {SCHEMA}", got=str(version))
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise InputError("Store", "path", "the file of a study", got=f"{str(self.path)!r}: {error}") from None

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- protocol and plan --------------------------------------------------------------------------------
    @property
    def protocol(self) -> Protocol | None:
        values = self._meta("protocol")
        return None if values is None else Protocol.from_json(values)

    def begin(self, protocol: Protocol, units: Sequence[Unit]) -> None:
        """Freeze the protocol and its plan, or find the same ones. Another protocol needs another file, once there is a run."""
        with self._transaction():
            if not self.finished() and not self._working():  # a start that failed binds nobody
                self._connection.execute("DELETE FROM meta WHERE key = 'protocol'")
                self._connection.execute("DELETE FROM units")
            known = self.protocol
            # What is in the presets is in the ids of units; where their files lie may change with the working directory.
            begun = None if known is None else {**known.as_json(), "presets": protocol.as_json()["presets"]}
            if begun is not None and begun != protocol.as_json():
                differing = [name for name, value in protocol.as_json().items() if begun[name] != value]
                raise InputError(
                    "study",
                    "store",
                    "a new file, or one with this protocol",
                    got=f"{str(self.path)!r}, which holds a study whose {', '.join(differing)} differ",
                    hint="Use another store, or the protocol it was begun with.",
                )
            self._set_meta("protocol", protocol.as_json())
            planned = {row[0] for row in self._connection.execute("SELECT unit_id FROM units")}
            if planned and planned != {unit.id for unit in units}:
                raise InputError(
                    "study",
                    "the data or the presets",
                    f"those that {str(self.path)!r} was begun with; they have changed",
                    hint="Use another store.",
                )
            self._connection.executemany(
                "INSERT OR IGNORE INTO units VALUES (?, ?, ?, ?, ?)",
                [(unit.id, unit.position, unit.method, unit.dataset, len(unit.seeds)) for unit in units],
            )

    # ---- work ---------------------------------------------------------------------------------------------
    def finished(self) -> set[str]:
        return {row[0] for row in self._connection.execute("SELECT DISTINCT unit_id FROM runs")}

    def claim(self, unit: Unit) -> bool:
        """Take a unit for this process; False where it is finished or a living process has it."""
        with self._transaction():
            if not self._connection.execute("SELECT 1 FROM units WHERE unit_id = ?", (unit.id,)).fetchone():
                raise InputError(
                    "study", f"{str(self.path)!r}", "this study", got="another one that was begun meanwhile", verb="hold"
                )
            if self._connection.execute("SELECT 1 FROM runs WHERE unit_id = ? LIMIT 1", (unit.id,)).fetchone():
                return False
            holder = self._connection.execute("SELECT host, pid, process FROM claims WHERE unit_id = ?", (unit.id,)).fetchone()
            if holder is not None and _alive(*holder):
                return False
            mine = (unit.id, socket.gethostname(), os.getpid(), _process_mark(os.getpid()), time.time())
            self._connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)", mine)
            return True

    def release(self, unit: Unit) -> None:
        with self._transaction():
            self._connection.execute("DELETE FROM claims WHERE unit_id = ? AND pid = ?", (unit.id, os.getpid()))

    def commit(self, unit: Unit, rows: Iterable[Mapping[str, Any]]) -> bool:
        """All rows of a unit in one transaction; False, and nothing written, where it is finished already."""
        values = [tuple(_plain(row[name]) for name in COLUMNS) for row in rows]
        with self._transaction():
            if self._connection.execute("SELECT 1 FROM runs WHERE unit_id = ? LIMIT 1", (unit.id,)).fetchone():
                return False
            marks = ", ".join("?" * len(COLUMNS))
            self._connection.executemany(f"INSERT INTO runs VALUES ({marks})", values)
            self._connection.execute("DELETE FROM claims WHERE unit_id = ?", (unit.id,))
        return True

    def take(self, rows: Iterable[Mapping[str, Any]], units: Sequence[Unit]) -> int:
        """Copy rows of another study whose units are units of this one too, whole units only; how many runs that were.

        A unit's id says what was run on what (method, data, settings, splits, seeds), so equal ids are equal work.
        Where the settings come from is not in it and may have been told anew since: that is taken from this study's preset.
        """
        finished = self.finished()
        wanted = {unit.id: unit for unit in units if unit.id not in finished}
        found: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            if row["unit_id"] in wanted:
                unit = wanted[row["unit_id"]]
                found.setdefault(unit.id, []).append({**row, "config": unit.preset.as_json()})
        whole = {unit_id: of_unit for unit_id, of_unit in found.items() if len(of_unit) == len(wanted[unit_id].seeds)}
        return sum(len(of_unit) for unit_id, of_unit in whole.items() if self.commit(wanted[unit_id], of_unit))

    # ---- reading ------------------------------------------------------------------------------------------
    def rows(self) -> Iterator[dict[str, Any]]:
        """All runs, in an order that does not depend on when they were done."""
        order = "SELECT r.*, u.position FROM runs r JOIN units u USING (unit_id) ORDER BY u.position, split_seed, seed"
        for row in self._connection.execute(order.replace("r.*", ", ".join(f"r.{name}" for name in COLUMNS))):
            record = dict(zip(COLUMNS, row, strict=False))
            for name in NESTED:
                record[name] = json.loads(record[name])
            yield record

    def progress(self) -> list[dict[str, Any]]:
        """For each method and dataset: runs planned and done, and units that a living process works on."""
        cells: dict[tuple[str, str], dict[str, Any]] = {}
        planned = "SELECT unit_id, method, dataset, runs FROM units ORDER BY position"
        done = dict(self._connection.execute("SELECT unit_id, COUNT(*) FROM runs GROUP BY unit_id"))
        claims = self._working()
        for unit_id, method, dataset, runs in self._connection.execute(planned):
            fresh = {"method": method, "dataset": dataset, "runs": 0, "done": 0, "working": 0}
            cell = cells.setdefault((method, dataset), fresh)
            cell["runs"] += runs
            cell["done"] += done.get(unit_id, 0)
            cell["working"] += unit_id in claims
        return list(cells.values())

    # ---- inside -------------------------------------------------------------------------------------------
    def _working(self) -> set[str]:
        """Units that a living process works on."""
        claims = self._connection.execute("SELECT unit_id, host, pid, process FROM claims")
        return {unit_id for unit_id, *holder in claims if _alive(*holder)}

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _meta(self, key: str) -> Any:
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def _set_meta(self, key: str, value: Any) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value, sort_keys=True)))


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\x00"
    except OSError as error:
        raise InputError("Store", "path", "the file of a study", got=f"{str(path)!r}: {error.strerror}") from None


def _plain(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else value


def _process_mark(pid: int) -> str:
    """When the process was started, as the kernel counts: a pid alone may be given to another process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rsplit(")", 1)[1].split()
    return "" if fields[0] == "Z" else fields[19]


def _alive(host: str, pid: int, process: str) -> bool:
    if host != socket.gethostname():
        return True  # nothing is known about processes elsewhere; a cluster's driver writes alone
    if Path("/proc").is_dir():
        return _process_mark(pid) == process != ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

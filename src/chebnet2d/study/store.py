"""The store of a study: one SQLite file in WAL mode, one row per run.

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
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._targets import check_target
from chebnet2d.study.claimants import is_alive, process_mark
from chebnet2d.study.plan import Unit
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.schema import COLUMNS, INSERT, prepare_schema, stored, unnested

_SQLITE = b"SQLite format 3\x00"


class Store(AbstractContextManager["Store"]):
    """See the module for what it guarantees."""

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        check_target("Store", "path", self.path)
        try:
            with self.path.open("rb") as file:
                start = file.read(len(_SQLITE))
        except FileNotFoundError:
            start = None
        except OSError as error:
            raise self._refusal(f": {error.strerror}") from None
        if start not in (None, b"", _SQLITE):
            raise self._refusal(", which is something else")
        if not create and not start:  # reading must not turn an empty file into a store
            raise self._refusal(", which does not exist" if start is None else ", which is empty")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        except sqlite3.Error as error:
            raise self._refusal(f": {error}") from None
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            with self._transaction():
                prepare_schema(self._connection, self.path)
        except Exception as error:
            self._connection.close()
            raise error if isinstance(error, InputError) else self._refusal(f": {error}") from None

    def _refusal(self, reason: str) -> InputError:
        return InputError("Store", "path", "the file of a study", got=f"{str(self.path)!r}{reason}")

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    @property
    def protocol(self) -> Protocol | None:
        found = self._one("SELECT value FROM meta WHERE key = 'protocol'")
        return None if found is None else Protocol.from_json(json.loads(found[0]))

    def begin(self, protocol: Protocol, units: Sequence[Unit]) -> None:
        """Freeze the protocol and its plan, or find the same ones. Another protocol needs another file, once there is a run."""
        with self._transaction():
            if not self.finished() and not self._working():  # a start that failed binds nobody
                self._connection.execute("DELETE FROM meta WHERE key = 'protocol'")
                self._connection.execute("DELETE FROM units")
            facts, begun = protocol.to_json(), self.protocol
            # What is in the presets is in the ids of units; where their files lie may change with the working directory.
            known = facts if begun is None else {**begun.to_json(), "presets": facts["presets"]}
            if differing := [name for name, value in facts.items() if known[name] != value]:
                got = f"{str(self.path)!r}, which holds a study whose {', '.join(differing)} differ"
                hint = "Use another store, or the protocol it was begun with."
                raise InputError("study", "store", "a new file, or one with this protocol", got=got, hint=hint)
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES ('protocol', ?)", (json.dumps(facts, sort_keys=True),))
            planned = {row[0] for row in self._connection.execute("SELECT unit_id FROM units")}
            if planned and planned != {unit.id for unit in units}:
                rule = f"those that {str(self.path)!r} was begun with; they have changed"
                raise InputError("study", "the data or the presets", rule, hint="Use another store.")
            self._connection.executemany(
                "INSERT OR IGNORE INTO units VALUES (?, ?, ?, ?, ?)",
                [(unit.id, unit.position, unit.method, unit.dataset, len(unit.seeds)) for unit in units],
            )

    def finished(self) -> set[str]:
        return {row[0] for row in self._connection.execute("SELECT DISTINCT unit_id FROM runs")}

    def claim(self, unit: Unit) -> bool:
        """Take a unit for this process; False where it is finished or a living process has it."""
        with self._transaction():
            if not self._one("SELECT 1 FROM units WHERE unit_id = ?", unit.id):
                got = "another one that was begun meanwhile"
                raise InputError("study", f"{str(self.path)!r}", "this study", got=got, verb="hold")
            holder = self._one("SELECT host, pid, process FROM claims WHERE unit_id = ?", unit.id)
            if self._is_finished(unit) or (holder is not None and is_alive(*holder)):
                return False
            mine = (unit.id, socket.gethostname(), os.getpid(), process_mark(os.getpid()), time.time())
            self._connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)", mine)
            return True

    def release(self, unit: Unit) -> None:
        self._connection.execute("DELETE FROM claims WHERE unit_id = ? AND pid = ?", (unit.id, os.getpid()))

    def commit(self, unit: Unit, rows: Iterable[Mapping[str, Any]]) -> bool:
        """All rows of a unit in one transaction; False, and nothing written, where it is finished already."""
        values = [stored(row) for row in rows]
        with self._transaction():
            if self._is_finished(unit):
                return False
            self._connection.executemany(INSERT, values)
            self._connection.execute("DELETE FROM claims WHERE unit_id = ?", (unit.id,))
        return True

    def take(self, rows: Iterable[Mapping[str, Any]], units: Sequence[Unit]) -> int:
        """Copy rows of another study whose units are units of this one too, whole units only; how many runs that were.

        A unit's id says what was run on what (method, data, settings, splits, seeds), so equal ids are equal work.
        Where the settings come from is not part of it and may have been described anew: that is taken from this study's recipe.
        """
        finished = self.finished()
        wanted = {unit.id: unit for unit in units if unit.id not in finished}
        found: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            if (unit := wanted.get(row["unit_id"])) is not None:
                found.setdefault(unit.id, []).append({**row, "config": unit.recipe.to_json()})
        whole = [(wanted[key], own) for key, own in found.items() if len(own) == len(wanted[key].seeds)]
        return sum(len(own) for unit, own in whole if self.commit(unit, own))

    def rows(self) -> Iterator[dict[str, Any]]:
        """All runs, in an order that does not depend on when they were done."""
        columns = ", ".join(f"runs.{name}" for name in COLUMNS)
        query = f"SELECT {columns} FROM runs JOIN units USING (unit_id) ORDER BY units.position, split_seed, seed"
        for values in self._connection.execute(query):
            yield unnested(dict(zip(COLUMNS, values, strict=True)))

    def progress(self) -> list[dict[str, Any]]:
        """For each method and dataset: runs planned and done, and units that a living process works on."""
        cells: dict[tuple[str, str], dict[str, Any]] = {}
        planned = "SELECT unit_id, method, dataset, runs FROM units ORDER BY position"
        done = dict(self._connection.execute("SELECT unit_id, COUNT(*) FROM runs GROUP BY unit_id"))
        claims = self._working()
        for unit_id, method, dataset, runs in self._connection.execute(planned):
            cell = cells.setdefault((method, dataset), {"method": method, "dataset": dataset, "runs": 0, "done": 0, "working": 0})
            cell["runs"] += runs
            cell["done"] += done.get(unit_id, 0)
            cell["working"] += unit_id in claims
        return list(cells.values())

    def _is_finished(self, unit: Unit) -> bool:
        return self._one("SELECT 1 FROM runs WHERE unit_id = ?", unit.id) is not None

    def _working(self) -> set[str]:
        """Units that a living process works on."""
        claims = self._connection.execute("SELECT unit_id, host, pid, process FROM claims")
        return {unit_id for unit_id, *holder in claims if is_alive(*holder)}

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._connection:  # commits, or rolls back what raised
            self._connection.execute("BEGIN IMMEDIATE")
            yield

    def _one(self, query: str, *values: Any) -> Any:
        """The first row that is found, or None."""
        return self._connection.execute(query, values).fetchone()

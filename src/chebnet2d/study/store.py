"""The store of a study: one SQLite file, one row per run of the report and one per run of a trial.

The contract:
- A unit is finished when all its rows are there; they come in one transaction, so there is no half of it.
- A row is never changed and never written twice: the second writer of a unit finds it finished and drops its own rows.
- A row that was damaged, on a disk or on the way, is told by its checksum: it is refused, never shown.
- A claim says that a process works on a unit. It ends with the unit, with the process, or with its lease, see ``claims``.
- Several processes, on several machines that share a disk, may use the file at once.
- To read a store changes nothing in it and nothing beside it, and a database of another program is never written to.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._targets import check_target
from chebnet2d.reports.scores import has_diverged
from chebnet2d.study.claims import Claim, Owner, drop_claim, read_claims, take_claim
from chebnet2d.study.database import check_ours, open_to_read, open_to_write, refusal
from chebnet2d.study.layout import REPORT, TRIAL, checked_row, checksum, stored
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.reuse import check_of_unit
from chebnet2d.study.schema import INSERT, INSERT_UNIT, check_schema, make_tables, migrate, read_meta, read_runs, read_units
from chebnet2d.study.spending import count_trials
from chebnet2d.study.units import Unit


class Store(AbstractContextManager["Store"]):
    """See the module for what it guarantees.

    ``create``: make a store where there is none, and bring an older one to the layout of today. False: only to read.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        self.owner = Owner.this_process()
        if create:
            check_target("Store", "path", self.path)
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            size = None
        except OSError as error:
            raise refusal(self.path, f": {error.strerror}") from None
        if not create and not size:
            raise refusal(self.path, ", which does not exist" if size is None else ", which is empty")
        if self.path.is_dir():
            raise refusal(self.path, ", which is a folder")
        is_store = False
        if size:
            self._connection = open_to_read(self.path)
            with self._closed_on_error():
                if is_store := check_ours(self._connection):
                    check_schema(self._connection)
                elif not create:
                    raise refusal(self.path, ", which is empty")
        if create:
            if size:
                self._connection.close()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = open_to_write(self.path, create=True)
            with self._closed_on_error(), self._transaction():
                if not is_store:
                    make_tables(self._connection)
                migrate(self._connection)

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._connection.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    @property
    def protocol(self) -> Protocol | None:
        found = read_meta(self._connection, "protocol")
        try:
            return None if found is None else Protocol.from_json(found)
        except InputError:
            raise
        except (TypeError, AttributeError) as error:
            raise refusal(self.path, f", whose protocol is none: {error}") from None

    def begin(self, protocol: Protocol, units: Sequence[Unit]) -> None:
        """Freeze the protocol and its plan, or find the same ones. Another protocol needs another file, once there is a run."""
        read_runs(self._connection)  # a damaged store is told before the work
        with self._transaction():
            if not self.finished() and not self.claims():  # a start that failed binds nobody
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
            planned = {unit_id for unit_id, *_ in read_units(self._connection)}
            if planned and planned != {unit.id for unit in units}:
                rule = f"those that {str(self.path)!r} was begun with; they have changed"
                raise InputError("study", "the data or the presets", rule, hint="Use another store.")
            rows = [(unit.id, unit.position, unit.method, unit.dataset, unit.size, unit.kind) for unit in units]
            self._connection.executemany(INSERT_UNIT, [(*row, checksum(row)) for row in rows])

    def finished(self) -> set[str]:
        return {row[0] for row in self._connection.execute("SELECT DISTINCT unit_id FROM runs")}

    def claims(self) -> dict[str, Claim]:
        """Those that hold, by unit."""
        return read_claims(self._connection)

    def holders(self) -> list[dict[str, Any]]:
        """Who works on what, since when and until when nobody else may, ready for JSON."""
        claims = self.claims()
        return [
            {"unit": unit_id, "method": method, "dataset": dataset, **claims[unit_id].to_json()}
            for unit_id, _, method, dataset, *_ in read_units(self._connection)
            if unit_id in claims
        ]

    def claim(self, unit: Unit) -> bool:
        """Take a unit for this process; False where it is finished or somebody has it."""
        with self._transaction():
            if not self._one("SELECT 1 FROM units WHERE unit_id = ?", unit.id):
                got = "another one that was begun meanwhile"
                raise InputError("study", f"{str(self.path)!r}", "this study", got=got, verb="hold")
            return not self._is_finished(unit) and take_claim(self._connection, unit.id, self.owner)

    def release(self, unit: Unit) -> None:
        drop_claim(self._connection, unit.id, self.owner)

    def release_all(self) -> list[Claim]:
        """Drop the claims of everybody. Whoever still trains a unit may go on, and the first to finish it is stored."""
        with self._transaction():
            dropped = list(self.claims().values())
            self._connection.execute("DELETE FROM claims")
        return dropped

    def commit(self, unit: Unit, rows: Iterable[Mapping[str, Any]]) -> bool:
        """All rows of a unit in one transaction; False, and nothing written, where it is finished already."""
        values = [stored(checked_row(row, f"a run of {unit.method} on {unit.dataset}")) for row in rows]
        with self._transaction():
            if self._is_finished(unit):
                return False
            self._connection.executemany(INSERT, values)
            self._connection.execute("DELETE FROM claims WHERE unit_id = ?", (unit.id,))
        return True

    def take(self, rows: Iterable[Mapping[str, Any]], units: Sequence[Unit], source: str = "rows") -> int:
        """Copy rows of another study that are runs of this one too, whole units only; how many runs that were.

        An id says what was run on what (method, data, settings, split, seeds), so equal ids are equal work. Reported runs are
        found by their own ids, whatever stack they were trained in: that only matters for rounding. Where the settings come from
        is not part of an id and may have been described anew: that is taken from this study's recipe.
        """
        finished = self.finished()
        wanted = {unit.id: unit for unit in units if unit.id not in finished}
        by_run = {unit.run_id(*seeds): unit for unit in wanted.values() if type(unit) is Unit for seeds in unit.seeds}
        found: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            unit = wanted.get(row["unit_id"]) or by_run.get(row["run_id"])
            if unit is not None and (config := unit.config_of(row)) is not None:
                found.setdefault(unit.id, []).append({**row, "unit_id": unit.id, "config": config})
        for key, own in found.items():
            check_of_unit(wanted[key], own, source)
        whole = [(wanted[key], own) for key, own in found.items() if len(own) == wanted[key].size]
        return sum(len(own) for unit, own in whole if self.commit(unit, own))

    def rows(self) -> list[dict[str, Any]]:
        """All runs of the report, in an order that does not depend on when they were done."""
        return [row for row in read_runs(self._connection) if row["kind"] == REPORT]

    def trials(self, unit_ids: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """All runs of trials, or those of some units, in an order that does not depend on when they were done."""
        return [row for row in read_runs(self._connection, unit_ids) if row["kind"] == TRIAL]

    def progress(self) -> list[dict[str, Any]]:
        """For each method and dataset: runs of the report planned, done and diverged, those of trials, and units in work."""
        cells: dict[tuple[str, str], dict[str, Any]] = {}
        place: dict[str, dict[str, Any]] = {}
        claims = self.claims()
        for unit_id, _, method, dataset, runs, kind in read_units(self._connection):
            counts = {"runs": 0, "done": 0, "diverged": 0, "working": 0, "trial_runs": 0, "trial_done": 0}
            cell = place[unit_id] = cells.setdefault((method, dataset), {"method": method, "dataset": dataset, **counts})
            cell["runs" if kind == REPORT else "trial_runs"] += runs
            cell["working"] += unit_id in claims
        for row in read_runs(self._connection):
            report = row["kind"] == REPORT
            place[row["unit_id"]]["done" if report else "trial_done"] += 1
            place[row["unit_id"]]["diverged"] += report and has_diverged(row)
        return list(cells.values())

    def budgets(self) -> list[dict[str, Any]]:
        """What the search of each method has cost; nothing for a study without one."""
        search = (read_meta(self._connection, "protocol") or {}).get("search")  # a Protocol would ask for all methods
        if not search:
            return []
        planned: dict[str, int] = {}
        for _, _, method, _, runs, kind in read_units(self._connection):
            planned[method] = planned.get(method, 0) + (runs // search["inits"] if kind == TRIAL else 0)
        return count_trials(self.trials(), planned)

    def _is_finished(self, unit: Unit) -> bool:
        return self._one("SELECT 1 FROM runs WHERE unit_id = ?", unit.id) is not None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._connection.transaction():
            yield

    def _one(self, query: str, *values: Any) -> Any:
        """The first row that is found, or None."""
        return self._connection.execute(query, values).fetchone()

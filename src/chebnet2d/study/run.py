"""The driver of a study: it alone claims, commits and logs; an executor decides where units are trained."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chebnet2d._checks import integer
from chebnet2d._targets import check_target
from chebnet2d.cluster import Executor, LocalExecutor, checked_executor
from chebnet2d.study.export import read_rows
from chebnet2d.study.plan import DatasetCache, Unit, make_plan
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.rows import describe_unit, train_unit
from chebnet2d.study.store import Store
from chebnet2d.training import EpochProgress


@dataclass(frozen=True)
class StudyProgress:
    """After every epoch of a stack that is trained in this process (``epoch``), and after every unit (None).

    ``runs_done``: runs in the store, by whomever. ``epochs_done``: epochs of single runs, by this driver.
    """

    runs_done: int
    runs: int
    unit: Unit
    epoch: EpochProgress | None
    epochs_done: int


def run_study(
    protocol: Protocol,
    store_path: str | Path,
    *,
    executor: Executor | None = None,
    root: str | Path | None = None,
    reuse: Sequence[str | Path] = (),
    progress: Callable[[StudyProgress], None] | None = None,
    log: Callable[[str], None] | None = None,
) -> None:
    """Run what is not yet in the store. Interrupt it anywhere and call it again: it goes on, and the table is the same.

    Args:
        store_path: the file of the study. Several calls, in several processes, may work on one file at a time.
        executor: where units are trained: one of ``chebnet2d.cluster``, or your own; default: this process.
        root: folder of the datasets.
        reuse: other studies, as stores or exported; what they have done and this one asks for too is copied, not run again.
        progress: called after every epoch, where units are trained in this process, and after every unit.
        log: called with a line for every unit.
    """
    check_target("study", "store", Path(store_path))
    where = LocalExecutor() if executor is None else checked_executor("run_study", executor)
    integer("run_study", "executor.slots", where.slots, 1)  # a cluster that is not there is noticed before there is a file
    others = [read_rows(other) for other in reuse]
    cache = DatasetCache(root)
    units = list(make_plan(protocol, cache))
    with Store(store_path) as store:
        store.begin(protocol, units)
        for rows in others:
            store.take(rows, units)
        _Driver(store, units, progress, log or (lambda _: None)).run(where, cache)


class _Driver:
    """Claims a unit when the executor has room for it, and commits it when it comes back."""

    def __init__(
        self, store: Store, units: Sequence[Unit], progress: Callable[[StudyProgress], None] | None, log: Callable[[str], None]
    ) -> None:
        self.store, self.units, self.progress, self.log = store, units, progress, log
        self.claimed: dict[str, Unit] = {}
        self.epochs: dict[str, int] = {}  # by unit
        self.runs = sum(len(unit.seeds) for unit in units)
        self.done = self._count_runs()

    def run(self, executor: Executor, cache: DatasetCache) -> None:
        trained = executor.run(train_unit, self._tasks(), shared=cache, report=self._tell)
        try:
            for unit_id, (rows, seconds) in trained:
                unit = self.claimed[unit_id]
                self.store.commit(unit, rows)
                del self.claimed[unit_id]
                self.epochs[unit_id] = sum(row["epochs"] for row in rows)
                self.done = self._count_runs()
                self.log(describe_unit(unit, rows, seconds))
                self._tell(unit, None)
        finally:
            getattr(trained, "close", lambda: None)()  # ends what is in training before its claim is released
            for unit in self.claimed.values():
                self.store.release(unit)

    def _tasks(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        finished = self.store.finished()
        for unit in self.units:
            if unit.id not in finished and self.store.claim(unit):
                self.claimed[unit.id] = unit
                yield unit.id, (unit, Path.cwd())

    def _count_runs(self) -> int:
        finished = self.store.finished()
        return sum(len(unit.seeds) for unit in self.units if unit.id in finished)

    def _tell(self, unit: Unit, epoch: EpochProgress | None) -> None:
        """Called from threads of the training too: it must not touch the store."""
        if epoch is not None:
            self.epochs[unit.id] = self.epochs.get(unit.id, 0) + epoch.active
        if self.progress is not None:
            self.progress(StudyProgress(self.done, self.runs, unit, epoch, sum(self.epochs.values())))

"""The driver of a study: it alone claims, commits and logs; an executor decides where units are trained."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chebnet2d._checks import integer
from chebnet2d._targets import check_target
from chebnet2d.cluster import Executor, LocalExecutor, checked_executor
from chebnet2d.study.claims import Claim, renewed
from chebnet2d.study.dataset_cache import DatasetCache
from chebnet2d.study.export import read_all
from chebnet2d.study.layout import TRIAL
from chebnet2d.study.plan import make_plan
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.rows import describe_unit, train_unit
from chebnet2d.study.store import Store
from chebnet2d.study.units import ChosenUnit, Unit
from chebnet2d.study.waiting import wait_for_claims
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
    notice: Callable[[str], None] | None = None,
) -> list[Claim]:
    """Run what is not yet in the store. Interrupt it anywhere and call it again: it goes on, and the table is the same.

    What others work on is left to them: the claims of units that are not finished for that reason are returned. A claim whose
    owner may have died is waited for until its lease ends (two minutes at most), and its unit is taken over then.

    Args:
        store_path: the file of the study. Several calls, in several processes, may work on one file at a time.
        executor: where units are trained: one of ``chebnet2d.cluster``, or your own; default: this process.
        root: folder of the datasets.
        reuse: other studies, as stores or exported; what they have done and this one asks for too is copied, not run again.
        progress: called after every epoch, where units are trained in this process, and after every unit.
        log: called with a line for every unit.
        notice: called with a sentence before others are waited for, and about graphs whose runs take long.
    """
    check_target("study", "store", Path(store_path))
    where = LocalExecutor() if executor is None else checked_executor("run_study", executor)
    integer("run_study", "executor.slots", where.slots, 1)  # a cluster that is not there is noticed before there is a file
    others = [read_all(other) for other in reuse]
    cache = DatasetCache(root)
    units = list(make_plan(protocol, cache, notice))
    with Store(store_path) as store:
        store.begin(protocol, units)
        for other, rows in zip(reuse, others, strict=True):
            # Trials first: report runs are of use only if they were run with what these choose.
            store.take(rows, [unit for unit in units if unit.kind == TRIAL], f"{str(other)!r}")
            finished = store.finished()
            ready = [unit for unit in units if unit.kind != TRIAL and finished.issuperset(unit.needs)]
            store.take(rows, [_resolved(unit, store) for unit in ready if unit.id not in finished], f"{str(other)!r}")
        driver = _Driver(store, units, protocol.keep, progress, log or (lambda _: None))
        with renewed(store.path, store.owner):
            driver.run(where, cache)
            while wait_for_claims(driver.held, notice or (lambda _: None)):
                driver.run(where, cache)
        return list(driver.held().values())


def _resolved(unit: Unit, store: Store) -> Unit:
    """With the recipes that finished trials choose, where it waits for such."""
    return unit.resolve(store.trials(unit.needs)) if isinstance(unit, ChosenUnit) else unit


class _Driver:
    """Claims a unit when the executor has room for it, and commits it when it comes back."""

    def __init__(
        self,
        store: Store,
        units: Sequence[Unit],
        keep: Sequence[str],
        progress: Callable[[StudyProgress], None] | None,
        log: Callable[[str], None],
    ) -> None:
        self.store, self.units, self.keep, self.progress, self.log = store, units, tuple(keep), progress, log
        self.claimed: dict[str, Unit] = {}
        self.epochs: dict[str, int] = {}  # by unit
        self.runs = sum(unit.size for unit in units)
        self.done = self._count_runs()

    def run(self, executor: Executor, cache: DatasetCache) -> None:
        """In rounds: at the end of one, units that waited for the last trials may be ready."""
        while (first := self._claim_next()) is not None and self._round(executor, cache, first):
            pass

    def _round(self, executor: Executor, cache: DatasetCache, first: Unit) -> int:
        """How many units were finished. The round is over when no more unit is ready, and those in training are back."""
        finished, trained = 0, None
        try:
            trained = executor.run(train_unit, self._tasks(first), shared=cache, report=self._tell)
            for unit_id, (rows, seconds) in trained:
                unit = self.claimed[unit_id]
                self.store.commit(unit, rows)
                del self.claimed[unit_id]
                self.epochs[unit_id] = sum(row["epochs"] for row in rows)
                self.done = self._count_runs()
                self.log(describe_unit(unit, rows, seconds))
                self._tell(unit, None)
                finished += 1
        finally:
            getattr(trained, "close", lambda: None)()  # ends what is in training before its claim is released
            for unit in self.claimed.values():
                self.store.release(unit)
            self.claimed.clear()
        return finished

    def _tasks(self, first: Unit) -> Iterator[tuple[str, tuple[Any, ...]]]:
        unit: Unit | None = first
        while unit is not None:
            yield unit.id, (_resolved(unit, self.store), Path.cwd(), self.keep)
            unit = self._claim_next()

    def _claim_next(self) -> Unit | None:
        """The first unit of the plan that waits for nothing and that nobody has."""
        finished = self.store.finished()
        for unit in self.units:
            if unit.id in finished or unit.id in self.claimed or not finished.issuperset(unit.needs):
                continue
            if self.store.claim(unit):
                self.claimed[unit.id] = unit
                return unit
        return None

    def held(self) -> dict[str, Claim]:
        """Claims of others on units that are not finished."""
        finished, own = self.store.finished(), {unit.id for unit in self.units}
        return {unit: claim for unit, claim in self.store.claims().items() if unit in own - finished}

    def _count_runs(self) -> int:
        finished = self.store.finished()
        return sum(unit.size for unit in self.units if unit.id in finished)

    def _tell(self, unit: Unit, epoch: EpochProgress | None) -> None:
        """Called from threads of the training too: it must not touch the store."""
        if epoch is not None:
            self.epochs[unit.id] = self.epochs.get(unit.id, 0) + epoch.active
        if self.progress is not None:
            self.progress(StudyProgress(self.done, self.runs, unit, epoch, sum(self.epochs.values())))

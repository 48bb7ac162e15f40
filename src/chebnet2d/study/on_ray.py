"""A study or a search on a Ray cluster: stacks of runs are the tasks, and the driver alone writes."""

import socket
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._targets import check_target
from chebnet2d.cluster import RayExecutor, connected
from chebnet2d.data import data_root
from chebnet2d.study.executor import Report, StudyProgress, log_line, train_unit
from chebnet2d.study.export import read_rows
from chebnet2d.study.plan import Catalogue, Unit, make_plan
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.store import Store


def run_study_on_ray(
    protocol: Protocol,
    store_path: str | Path,
    address: str,
    *,
    root: Path | None = None,
    cpus: int = 1,
    reuse: Sequence[str | Path] = (),
    progress: Report | None = None,
    log: Callable[[str], None] | None = None,
) -> None:
    """``run_study`` with its units spread over a cluster, whose nodes all have the datasets below ``root``; that is checked.

    Units that are in the store, or that a living process works on, are left out. A unit whose node dies runs again on another;
    its rows are committed once. Interrupt it anywhere and call it again, here or on one machine: it goes on.
    """
    # A task has another working directory and another environment than the driver.
    root = data_root(root).absolute()
    check_target("study", "store", Path(store_path))
    others = [read_rows(other) for other in reuse]
    with connected(address):  # before the store: an address where nobody is must not leave a file behind
        catalogue = Catalogue(root)
        units = {unit.id: unit for unit in make_plan(protocol, catalogue)}
        total = sum(len(unit.seeds) for unit in units.values())
        with Store(store_path) as store:
            store.begin(protocol, list(units.values()))
            for rows in others:
                store.take(rows, list(units.values()))
            finished = store.finished()
            done = sum(len(unit.seeds) for unit in units.values() if unit.id in finished)
            epochs = 0
            mine = {name: unit for name, unit in units.items() if name not in finished and store.claim(unit)}
            try:
                tasks: dict[str, tuple[Any, ...]] = {name: (unit,) for name, unit in mine.items()}
                for name, (rows, seconds) in RayExecutor(address, cpus).run(_trained, tasks.items(), shared=root):
                    unit = mine.pop(name)
                    store.commit(unit, rows)
                    done += len(unit.seeds)
                    epochs += sum(row["epochs"] for row in rows)
                    if log is not None:
                        log(log_line(unit, rows, seconds))
                    if progress is not None:
                        progress(StudyProgress(done, total, unit, None, epochs))
            finally:
                for unit in mine.values():
                    store.release(unit)


def _trained(root: Path, unit: Unit) -> tuple[list[dict[str, Any]], float]:
    start = time.perf_counter()
    catalogue = _catalogue(root)
    if catalogue.digest(unit.dataset, unit.preset.transform) != unit.dataset_digest:
        raise InputError(
            "study", f"{unit.dataset!r}", "the same on every node", got=f"another one in {str(root)!r} of {socket.gethostname()}"
        )
    return train_unit(unit, catalogue), time.perf_counter() - start


@cache
def _catalogue(root: Path) -> Catalogue:
    """One for all tasks of a process."""
    return Catalogue(root)

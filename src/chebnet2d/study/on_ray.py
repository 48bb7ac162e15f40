"""A study on a Ray cluster: stacks of runs are the tasks, and the driver alone writes the store."""

from pathlib import Path
from typing import Any

from chebnet2d.cluster import run_tasks
from chebnet2d.study.executor import Report, StudyProgress, train_unit
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
    progress: Report | None = None,
) -> None:
    """``run_study`` with its units spread over a cluster, whose nodes all have the datasets below ``root``.

    Units that are in the store, or that a living process works on, are left out. A unit whose node dies runs again on another;
    its rows are committed once. Interrupt it anywhere and call it again, here or on one machine: it goes on.
    """
    catalogue = Catalogue(root)
    units = {unit.id: unit for unit in make_plan(protocol, catalogue)}
    total = sum(len(unit.seeds) for unit in units.values())
    with Store(store_path) as store:
        store.begin(protocol, list(units.values()))
        finished = store.finished()
        done = sum(len(unit.seeds) for unit in units.values() if unit.id in finished)
        mine = {name: unit for name, unit in units.items() if name not in finished and store.claim(unit)}
        try:
            tasks: dict[str, tuple[Any, ...]] = {name: (unit,) for name, unit in mine.items()}
            for name, rows in run_tasks(_trained, tasks, address=address, shared=root, cpus=cpus):
                unit = mine.pop(name)
                store.commit(unit, rows)
                done += len(unit.seeds)
                if progress is not None:
                    progress(StudyProgress(done, total, unit, None, 0))
        finally:
            for unit in mine.values():
                store.release(unit)


def _trained(root: Path | None, unit: Unit) -> list[dict[str, Any]]:
    return train_unit(unit, Catalogue(root))

"""Doing the work of a plan: this process, or several on this machine."""

import multiprocessing
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch

from chebnet2d._targets import check_target
from chebnet2d.data.generated import GENERATED
from chebnet2d.study.export import read_rows
from chebnet2d.study.plan import Catalogue, Unit, make_plan, make_runs
from chebnet2d.study.protocol import Protocol
from chebnet2d.study.store import Store
from chebnet2d.training import EpochProgress, Result, fit_many


@dataclass(frozen=True)
class StudyProgress:
    """After every epoch of a unit and after every unit. ``unit`` is None when a unit was finished by another process."""

    runs_done: int
    runs: int
    unit: Unit | None
    epoch: EpochProgress | None
    epochs_done: int


Report = Callable[[StudyProgress], None]


def run_study(
    protocol: Protocol,
    store_path: str | Path,
    *,
    root: Path | None = None,
    workers: int = 1,
    reuse: Sequence[str | Path] = (),
    progress: Report | None = None,
    log: Callable[[str], None] | None = None,
) -> None:
    """Run what is not yet in the store. Interrupt it anywhere and call it again: it goes on, and the table is the same.

    ``reuse``: other studies, as stores or exported; what they have done and this one asks for too is copied, not run again.
    """
    check_target("study", "store", Path(store_path))
    others = [read_rows(other) for other in reuse]
    catalogue = Catalogue(root)
    units = list(make_plan(protocol, catalogue))
    with Store(store_path) as store:
        store.begin(protocol, units)
        for rows in others:
            store.take(rows, units)
    if workers > 1:
        _run_in_processes(protocol, store_path, root, workers, units, progress, log)
    else:
        work(units, store_path, catalogue, progress=progress, log=log)


def work(
    units: Sequence[Unit],
    store_path: str | Path,
    catalogue: Catalogue,
    *,
    progress: Report | None = None,
    log: Callable[[str], None] | None = None,
) -> None:
    """Claim, train and commit units until none is left."""
    total = sum(len(unit.seeds) for unit in units)
    epochs_done = 0
    with Store(store_path) as store:
        finished = store.finished()
        done = sum(len(unit.seeds) for unit in units if unit.id in finished)
        for unit in units:
            if unit.id in finished or not store.claim(unit):
                continue
            try:
                start = time.perf_counter()

                def report(epoch: EpochProgress, unit: Unit = unit, done: int = done) -> None:
                    nonlocal epochs_done
                    epochs_done += epoch.active
                    if progress is not None:
                        progress(StudyProgress(done, total, unit, epoch, epochs_done))

                rows = train_unit(unit, catalogue, report)
                store.commit(unit, rows)
            except BaseException:
                store.release(unit)
                raise
            done += len(unit.seeds)
            if log is not None:
                log(log_line(unit, rows, time.perf_counter() - start))
            if progress is not None:
                progress(StudyProgress(done, total, unit, None, epochs_done))


def log_line(unit: Unit, rows: Sequence[Mapping[str, Any]], seconds: float) -> str:
    scores = ", ".join(f"{row['test_metric']:.4f}" for row in rows)
    return f"{unit.method} on {unit.dataset}, {unit.split}: {len(rows)} runs in {seconds:.1f} s: {scores}"


def train_unit(unit: Unit, catalogue: Catalogue, report: Callable[[EpochProgress], None] | None = None) -> list[dict[str, Any]]:
    """The rows of a unit."""
    data = catalogue.load(unit.dataset, unit.preset.transform)
    runs = make_runs(unit, data)
    results = fit_many(runs, data, width=unit.width, progress=report)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    dataset = unit.dataset + (GENERATED if data.get("generated") else "")  # no number of the paper's belongs beside it
    return [_row(unit, dataset, seeds, result, peak) for seeds, result in zip(unit.seeds, results, strict=True)]


def _row(unit: Unit, dataset: str, seeds: tuple[int, int], result: Result, peak: float) -> dict[str, Any]:
    split: Any = result.split
    return {
        "run_id": unit.run_id(*seeds),
        "unit_id": unit.id,
        "method": unit.method,
        "dataset": dataset,
        "split": unit.split,
        "split_seed": seeds[0],
        "seed": seeds[1],
        "metric": result.metric,
        "test_metric": result.test_metric,
        "test_accuracy": result.test.get("accuracy"),
        "test_roc_auc": result.test.get("roc_auc"),
        "val_metric": result.val_metric,
        "val_loss": result.val_loss,
        "best_epoch": result.best_epoch,
        "epochs": result.epochs,
        "seconds": result.seconds,
        "peak_mib": round(peak, 1),
        "parameters": sum(p.numel() for p in result.model.parameters()),
        "config": unit.preset.as_json(),
        "dataset_digest": unit.dataset_digest,
        "split_digest": split.digest,
        "train_nodes": split.train.numel(),
        "test_nodes": split.test.numel(),
        "versions": {"chebnet2d": version("chebnet2d"), "torch": torch.__version__, "python": platform.python_version()},
        "machine": {"system": platform.platform(), "cores": os.cpu_count(), "threads": torch.get_num_threads()},
        "finished_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _worker(protocol: dict[str, Any], store_path: str, root: Path | None, threads: int, lines: "Connection[str, None]") -> None:
    torch.set_num_threads(threads)
    catalogue = Catalogue(root)
    work(list(make_plan(Protocol.from_json(protocol), catalogue)), store_path, catalogue, log=lines.send)


def _run_in_processes(
    protocol: Protocol,
    store_path: str | Path,
    root: Path | None,
    workers: int,
    units: Sequence[Unit],
    progress: Report | None,
    log: Callable[[str], None] | None,
) -> None:
    threads = max(1, (os.cpu_count() or 1) // workers)
    context = multiprocessing.get_context("spawn")
    processes, lines = [], []
    for _ in range(workers):
        ours, theirs = context.Pipe(duplex=False)  # one each: a worker that is killed leaves no lock behind
        arguments = (protocol.as_json(), str(store_path), root, threads, theirs)
        processes.append(context.Process(target=_worker, args=arguments, daemon=True))
        processes[-1].start()
        theirs.close()  # so that the end of the worker is the end of its lines
        lines.append(ours)
    sizes = {unit.id: len(unit.seeds) for unit in units}
    total = sum(sizes.values())
    try:
        while lines:
            ready: Any = wait(lines, timeout=0.5)
            for one in ready:
                try:
                    line = one.recv()
                except (EOFError, OSError):  # it has ended, or was killed in the middle of a line
                    lines.remove(one)
                else:
                    if log is not None:
                        log(line)
            if progress is not None:
                with Store(store_path) as store:
                    done = sum(sizes[unit_id] for unit_id in store.finished() if unit_id in sizes)
                progress(StudyProgress(done, total, None, None, 0))
        for process in processes:
            process.join()
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
    failed = [process.exitcode for process in processes if process.exitcode]
    if failed:
        raise RuntimeError(f"a worker process ended with code {failed[0]}; what was finished is in the store")

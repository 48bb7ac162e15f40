"""Training the runs of a unit, and what is kept of each: one row per run."""

import os
import platform
import resource
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from chebnet2d._checks import InputError
from chebnet2d._version import __version__
from chebnet2d.data.generated import GENERATED
from chebnet2d.recipes import located
from chebnet2d.study.datasets import DatasetCache
from chebnet2d.study.plan import Unit, code_digest
from chebnet2d.training import EpochProgress, Result, fit_many


def train_unit(
    cache: DatasetCache,
    unit: Unit,
    folder: str | Path = ".",
    report: Callable[[Unit, EpochProgress], None] | None = None,
) -> tuple[list[dict[str, Any]], float]:
    """The rows of a unit, and the seconds that it took. It runs wherever an executor calls it.

    Args:
        folder: where relative paths of methods in files begin: the working directory of the driver.
        report: called after every epoch of a stack, perhaps from another thread.
    """
    start = time.perf_counter()
    data = cache.load(unit.recipe)
    _check_same(f"the dataset {unit.dataset!r}", unit.dataset_digest, cache.digest(unit.recipe))
    recipe = replace(unit.recipe, method=located(unit.recipe.method, folder))
    _check_same(f"the code of {unit.method!r}", unit.code_digest, code_digest(recipe.method))
    progress = None if report is None else lambda epoch: report(unit, epoch)
    results = fit_many(recipe.runs(data, unit.splits(data)), data, width=unit.width, progress=progress)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    facts = {
        "dataset": unit.dataset + (GENERATED if data.get("generated") else ""),  # the paper's numbers do not belong beside it
        "peak_mib": round(peak, 1),
        "versions": {"chebnet2d": __version__, "torch": torch.__version__, "python": platform.python_version()},
        "machine": {"system": platform.platform(), "cores": os.cpu_count(), "threads": torch.get_num_threads()},
        "finished_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    rows = [facts | _row(unit, seeds, result) for seeds, result in zip(unit.seeds, results, strict=True)]
    return rows, time.perf_counter() - start


def describe_unit(unit: Unit, rows: list[dict[str, Any]], seconds: float) -> str:
    """A line for the log."""
    scores = [row["test"].get(row["metric"]) for row in rows]
    shown = ", ".join("diverged" if score is None else f"{score:.4f}" for score in scores)
    return f"{unit.method} on {unit.dataset}, {unit.split}: {len(rows)} runs in {seconds:.1f} s: {shown}"


def _row(unit: Unit, seeds: tuple[int, int], result: Result) -> dict[str, Any]:
    """What ``Result.to_record`` says of the run, and what the unit knows."""
    record = result.to_record()
    split = record.pop("split")
    return record | {
        "run_id": unit.run_id(*seeds),
        "unit_id": unit.id,
        "method": unit.method,
        "split": unit.split,
        "split_seed": seeds[0],
        "split_digest": split["digest"],
        "config": unit.recipe.to_json(),
        "dataset_digest": unit.dataset_digest,
        "train_nodes": result.split.train.numel(),
        "test_nodes": result.split.test.numel(),
    }


def _check_same(what: str, planned: str, found: str) -> None:
    if found != planned:
        got = f"another one on {socket.gethostname()}"
        raise InputError("study", what, "the same wherever a unit is trained, and from the plan on", got=got)

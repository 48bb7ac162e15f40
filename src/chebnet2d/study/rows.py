"""Training the runs of a unit, and what is kept of each: one row per run. Trials do not know the test nodes."""

import itertools
import os
import platform
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from chebnet2d import data as datasets
from chebnet2d._checks import InputError
from chebnet2d._versions import versions
from chebnet2d.data.generated import GENERATED
from chebnet2d.models import NodeClassifier
from chebnet2d.models.registry import located
from chebnet2d.reports.scores import has_diverged
from chebnet2d.study.curves import pack_curve, pack_labels
from chebnet2d.study.dataset_cache import DatasetCache
from chebnet2d.study.layout import TRIAL
from chebnet2d.study.peak import PeakMemory
from chebnet2d.study.plan import code_digest
from chebnet2d.study.units import Job, Unit
from chebnet2d.training import EpochProgress, Result, Run, fit_together


def train_unit(
    cache: DatasetCache,
    unit: Unit,
    folder: str | Path = ".",
    keep: Sequence[str] = (),
    report: Callable[[Unit, EpochProgress], None] | None = None,
) -> tuple[list[dict[str, Any]], float]:
    """The rows of a unit, and the seconds that it took. It runs wherever an executor calls it.

    ``folder``: where relative paths of methods in files begin: the working directory of the driver.
    ``keep``: what is stored besides numbers, as in the protocol.
    ``report``: called after every epoch of a stack, perhaps from another thread.
    """
    start = time.perf_counter()
    with PeakMemory() as peak:
        data = cache.load(unit.recipe)
        _check_same(f"the dataset {unit.dataset!r}", unit.dataset_digest, cache.digest(unit.recipe))
        method = located(unit.recipe.method, folder)
        _check_same(f"the code of {unit.method!r}", unit.code_digest, code_digest(method))
        progress = None if report is None else lambda epoch: report(unit, epoch)
        parts = list(_parts(cache, unit, method))
        groups = [(part.runs, part.data) for part in parts]
        results = fit_together(groups, width=unit.width, test=unit.kind != TRIAL, pruner=unit.pruner, progress=progress)
    facts = {
        "dataset": unit.dataset + (GENERATED if data.get("generated") else ""),  # the paper's numbers do not belong beside it
        "peak_mib": round(peak.mib, 1),
        "versions": versions(),
        "machine": {"system": platform.platform(), "cores": os.cpu_count(), "threads": torch.get_num_threads()}
        | {"peak": peak.how},
        "finished_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    owners = [(part, job) for part in parts for job in part.jobs]
    rows = [facts | _row(unit, *owner, result, keep) for owner, result in zip(owners, results, strict=True)]
    return rows, time.perf_counter() - start


def describe_unit(unit: Unit, rows: list[dict[str, Any]], seconds: float) -> str:
    """A line for the log."""
    where = f"{unit.method} on {unit.dataset}, {unit.split}: {len(rows)}"
    if unit.kind == TRIAL:
        left, epochs = sum(row["pruned"] for row in rows), sum(row["epochs"] for row in rows)
        return f"{where} runs of trials in {seconds:.1f} s: {left} left at a rung, {epochs} epochs"
    return f"{where} runs in {seconds:.1f} s: {', '.join(map(_shown, rows))}"


def _shown(row: dict[str, Any]) -> str:
    if has_diverged(row):
        return "diverged"
    score = row["test"][row["metric"]]
    return "no test nodes" if score is None else f"{score:.4f}"


@dataclass(frozen=True)
class _Part:
    """Jobs of a unit whose features are prepared in one way. ``splits``: by seed, with their test nodes."""

    jobs: list[Job]
    runs: list[Run]
    data: Any
    digest: str
    splits: dict[int, datasets.Split]


def _parts(cache: DatasetCache, unit: Unit, method: str) -> Iterator[_Part]:
    for transform, group in itertools.groupby(unit.jobs, key=lambda job: job.recipe.transform):
        jobs, recipe = list(group), replace(unit.recipe, transform=transform)
        data, digest = cache.load(recipe), cache.digest(recipe)
        splits = {seed: datasets.split(data, unit.split, seed=seed) for seed in {job.split_seed for job in jobs}}
        seen = {seed: replace(split, test=split.test[:0]) for seed, split in splits.items()} if unit.kind == TRIAL else splits
        runs = [replace(job.recipe, method=method).runs(data, [(seen[job.split_seed], job.seed)])[0] for job in jobs]
        yield _Part(jobs, runs, data, digest, splits)


def _row(unit: Unit, part: _Part, job: Job, result: Result, keep: Sequence[str]) -> dict[str, Any]:
    """What ``Result.to_record`` says of the run, and what the unit knows."""
    record = result.to_record()
    ids = {"run_id": unit.job_id(job, part.digest), "unit_id": unit.id, "method": unit.method, "config": job.recipe.to_json()}
    digests = {"dataset_digest": part.digest, "split_digest": part.splits[job.split_seed].digest}
    nodes = {"train_nodes": result.split.train.numel(), "test_nodes": result.split.test.numel()}
    record["test"] = record["test"] or {result.metric: None}  # there are no test nodes
    kept: dict[str, Any] = {"kind": unit.kind, "trial": job.trial, "curve": None, "predictions": None}
    if "curves" in keep:
        kept["curve"] = pack_curve(result.history.val_metric)
    if "predictions" in keep and unit.kind != TRIAL and isinstance(result.model, NodeClassifier):
        kept["predictions"] = pack_labels(result.model.predict(part.data).labels[result.split.test].tolist())
    return {**record, **ids, **digests, **nodes, **kept, "split": unit.split, "split_seed": job.split_seed}


def _check_same(what: str, planned: str, found: str) -> None:
    if found != planned:
        got = f"another one on {socket.gethostname()}"
        raise InputError("study", what, "the same wherever a unit is trained, and from the plan on", got=got)

"""Whether rows of another study are what a unit of this one would give."""

from collections.abc import Mapping, Sequence
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.data.generated import GENERATED
from chebnet2d.study.units import Unit


def check_distinct(rows: Sequence[Mapping[str, Any]], source: str) -> None:
    seen: set[str] = set()
    for row in rows:
        if row["run_id"] in seen:
            raise InputError("study", source, "every run once", got=f"run {row['run_id']!r} twice", verb="have")
        seen.add(row["run_id"])


def check_of_unit(unit: Unit, rows: Sequence[Mapping[str, Any]], source: str) -> None:
    """Rows that carry the id of a unit carry its seeds, the ids that follow from them, and its method, data and split."""
    check_distinct(rows, source)
    facts = {"method": unit.method, "split": unit.split}
    jobs = {(job.trial, job.split_seed, job.seed): job for job in unit.jobs}
    for row in rows:
        seeds = (row["split_seed"], row["seed"])
        expected = {**facts, "dataset": unit.dataset + (GENERATED if row["dataset"].endswith(GENERATED) else "")}
        if (job := jobs.get((row["trial"], *seeds))) is None:
            raise InputError("study", f"the seeds of run {row['run_id']!r} in {source}", "those of its unit", seeds)
        same = job.recipe.transform == unit.recipe.transform  # else features are prepared in another way than the unit's own
        expected["dataset_digest"] = unit.dataset_digest if same else row["dataset_digest"]
        expected["run_id"] = unit.job_id(job, expected["dataset_digest"])
        for name, value in expected.items():
            if row[name] != value:
                raise InputError("study", f"{name} of run {row['run_id']!r} in {source}", f"{value!r}, as in its unit", row[name])

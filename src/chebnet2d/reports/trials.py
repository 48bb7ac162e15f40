"""Trials of a search among the rows of a study: validation scores and epochs, no test scores."""

import math
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any


def is_trial(row: Mapping[str, Any]) -> bool:
    """A run of a search. Runs that are reported have in ``trial`` the number of the one that was chosen for them."""
    return row.get("kind") == "trial"


def trial_scores(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], list[list[float]]]:
    """(method, dataset) -> for each choice that was made there, the mean validation score of each trial over its runs.

    A search on development splits makes one choice, a nested one a choice on each split that is reported. A run that diverged
    counts as 0: its budget was spent. A run that left at a rung counts with what it had there.
    """
    rows = list(rows)
    reported = {(row["method"], row["dataset"], row["split_seed"]) for row in rows if not is_trial(row)}
    runs: dict[tuple[str, str], dict[int | None, dict[int, list[float]]]] = {}
    for row in rows:
        if is_trial(row):
            key, split = (row["method"], row["dataset"]), row["split_seed"]
            choice = split if (*key, split) in reported else None
            score = row["val_metric"]
            known = score is not None and math.isfinite(score)
            numbers = runs.setdefault(key, {}).setdefault(choice, {})
            numbers.setdefault(row["trial"], []).append(score if known else 0.0)
    return {key: [[fmean(own[n]) for n in sorted(own)] for own in choices.values()] for key, choices in runs.items()}


def chosen_scores(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """(method, dataset) -> validation score of the trials that were chosen there: the number by which they were."""
    rows = list(rows)
    chosen: dict[tuple[str, str], dict[int, int]] = {}
    for row in rows:
        if not is_trial(row) and row.get("trial") is not None:
            chosen.setdefault((row["method"], row["dataset"]), {})[row["split_seed"]] = row["trial"]
    scores: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        key = (row["method"], row["dataset"])
        if is_trial(row) and key in chosen and row["val_metric"] is not None:
            of_split = chosen[key].get(row["split_seed"])  # None on a development split, whose one choice is that of all splits
            if row["trial"] == (next(iter(chosen[key].values())) if of_split is None else of_split):
                scores.setdefault(key, []).append(row["val_metric"])
    return {key: fmean(values) for key, values in scores.items()}

"""Budgets by hand, and the share of runs that end at the limit of epochs."""

import pytest

from chebnet2d.reports.budgets import Budget, find_differences, read_budgets
from table_rows import study_row, trial_row


def _run(method, dataset, seed, epochs, limit=100, patience=20):
    config = {"settings": {"epochs": limit, "patience": patience}}
    return study_row(method, dataset, "uniform", 0.5, seed, epochs=epochs, config=config)


def _study(method, trials=3):
    rows = [trial_row(method, dataset, n, 0.5, 100, epochs=30 + n) for dataset in ("x", "y") for n in range(trials)]
    return rows + [_run(method, dataset, seed, 60) for dataset in ("x", "y") for seed in range(2)]


def test_what_was_given_and_spent():
    rows = [
        *_study("a"),
        trial_row("a", "x", 2, None, 101, epochs=10, pruned=True),
        _run("a", "x", 2, 100),
        _run("a", "x", 3, 99),
    ]
    (found,) = read_budgets(rows)
    assert found == Budget("a", trials=6, trial_runs=7, trial_epochs=2 * 93 + 10, left=1, runs=6, epochs=439, at_limit=1)
    assert found.share_at_limit == pytest.approx(1 / 6)
    assert read_budgets([trial_row("a", "x", 0, 0.5, 100)])[0].share_at_limit == 0


def test_equal_budgets_have_no_sentence():
    assert find_differences([*_study("a"), *_study("b")]) == []
    assert find_differences([]) == []


def test_every_difference_has_a_sentence():
    assert find_differences([*_study("a"), *_study("b", trials=2)]) == [
        f"{dataset}, uniform: {what} differ (a 3, b 2)" for dataset in ("x", "y") for what in ("trials", "runs of trials")
    ]
    rows = [_run("a", "x", 0, 60), _run("b", "x", 0, 60, limit=200, patience=30), _run("b", "x", 1, 60, limit=200, patience=30)]
    assert find_differences(rows) == [
        "x, uniform: runs differ (a 1, b 2)",
        "x, uniform: epochs at most differ (a 100, b 200)",
        "x, uniform: patience differ (a 20, b 30)",
    ]

"""Friedman's and Nemenyi's tests against scipy and the worked example of Demsar (2006)."""

import math
from itertools import permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d import InputError
from chebnet2d.reports.ranks import Friedman, critical_difference, friedman, friedman_of_means
from table_rows import study_row

# Demsar 2006, table 6: AUC of C4.5 with and without two parameters on fourteen datasets. On the last but one, C4.5+cf and
# C4.5+m+cf are printed with 0.975 and the ranks 2 and 3: the former is ahead by less than is printed.
DEMSAR = {
    "C4.5": [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957],
    "C4.5+m": [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978],
    "C4.5+cf": [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.000, 0.965, 0.614, 0.9751, 0.946],
    "C4.5+m+cf": [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970],
}


def _means(table):
    return {method: dict(enumerate(values)) for method, values in table.items()}


def test_the_worked_example():
    found = friedman_of_means(_means(DEMSAR))
    assert {name: round(rank, 3) for name, rank in found.ranks.items()} == {
        "C4.5+m+cf": 1.964,
        "C4.5+m": 2.0,
        "C4.5+cf": 2.893,
        "C4.5": 3.143,
    }
    # The paper's 9.28 is without the correction for ties, of which there are one of four, and three of two.
    ties = 1 - ((4**3 - 4) + 3 * (2**3 - 2)) / (14 * (4**3 - 4))
    assert found.chi_squared * ties == pytest.approx(9.28, abs=0.01)
    uncorrected = found.chi_squared * ties
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=0.01)
    assert found.f > 3.69, "the correction for ties makes the test less timid"
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert found.p_value < 0.05
    assert found.groups == [("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")], "1.179 apart: not enough for Nemenyi, as the paper says"


def test_quantiles_are_those_of_the_printed_table():
    for methods, quantile in enumerate((1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164), start=2):
        assert critical_difference(methods, 20) == pytest.approx(quantile * math.sqrt(methods * (methods + 1) / 120), rel=4e-4)


@given(st.integers(3, 6).flatmap(lambda k: st.lists(st.lists(st.integers(0, 5), min_size=k, max_size=k), min_size=2, max_size=8)))
def test_it_is_scipys_with_ties(table):
    values = np.array(table) / 5
    means = {str(method): dict(enumerate(column)) for method, column in enumerate(values.T)}
    found = friedman_of_means(means)
    if all(len(set(row)) == 1 for row in table):
        assert (found.chi_squared, found.p_value) == (0, 1)
        return
    expected = scipy.stats.friedmanchisquare(*values.T).statistic
    assert found.chi_squared == pytest.approx(expected, abs=1e-9)
    assert [found.ranks[name] for name in means] == pytest.approx(scipy.stats.rankdata(-values, axis=1).mean(axis=0))


def test_the_form_of_iman_and_davenport_is_an_analysis_of_variance_of_ranks():
    values = np.random.default_rng(0).normal(size=(9, 4)) + np.arange(4) / 3
    found = friedman_of_means({str(m): dict(enumerate(column)) for m, column in enumerate(values.T)})
    ranks = scipy.stats.rankdata(values, axis=1)
    between = 9 * ((ranks.mean(0) - 2.5) ** 2).sum() / 3
    residual = ((ranks - ranks.mean(0) - ranks.mean(1, keepdims=True) + 2.5) ** 2).sum() / (3 * 8)
    assert found.f == pytest.approx(between / residual)
    assert found.p_value == pytest.approx(scipy.stats.f.sf(between / residual, 3, 24))


def test_perfect_agreement():
    found = friedman_of_means({"a": {1: 0.9, 2: 0.8}, "b": {1: 0.5, 2: 0.4}, "c": {1: 0.1, 2: 0.2}})
    alike = [first == second for first in permutations(range(3)) for second in permutations(range(3))]
    assert (found.f, found.p_value) == (math.inf, pytest.approx(np.mean(alike))), "one of six by chance alone"


@given(st.lists(st.floats(1, 12), min_size=1, max_size=12), st.floats(0.1, 6))
def test_groups_are_the_largest_sets_within_the_critical_difference(ranks, difference):
    ordered = {str(i): rank for i, rank in enumerate(sorted(ranks))}
    groups = [set(group) for group in Friedman(ordered, 5, 0, 0, 0, difference).groups]
    for a, rank in ordered.items():
        for b, other in ordered.items():
            if a != b:
                assert (abs(rank - other) <= difference) == any({a, b} <= group for group in groups)
    assert not any(one < other for one in groups for other in groups)


def test_from_rows_over_the_datasets_that_all_have():
    rows = [
        study_row(method, dataset, "uniform", score + 0.01 * seed, seed)
        for method, base in (("a", 0.5), ("b", 0.6), ("c", 0.7))
        for dataset, score in (("x", base), ("y", base), ("z", base))
        for seed in range(2)
    ]
    rows = [row | {"test": {"accuracy": None}} if (row["method"], row["dataset"]) == ("b", "z") else row for row in rows]
    found = friedman(rows)
    assert found.datasets == 2
    assert list(found.ranks) == ["c", "b", "a"]
    with pytest.raises(
        InputError, match="friedman: rows must have at least 2 methods and 2 datasets that all of them have, got 3 and 1"
    ):
        friedman([row for row in rows if row["dataset"] != "y"])

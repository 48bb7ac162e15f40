"""Comparisons of methods against what is not our code: an integrated posterior, closed testing, published examples."""

from itertools import combinations

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from chebnet2d import InputError
from chebnet2d.reports.comparisons import compare_with, count_wins, holm, judge
from chebnet2d.reports.statistics import compare
from table_rows import study_row

ACCURACIES = st.lists(st.integers(0, 100).map(lambda n: n / 100), min_size=3, max_size=8)


def _scores(values):
    return {split: [value] for split, value in enumerate(values)}


def _posterior(differences, share, rope):
    """Better, equivalent, worse by the definition: equally correlated normal differences, prior 1 / sigma^2, no closed form."""
    k = len(differences)
    rho = share / (1 + share)  # rho / (1 - rho) = n_test / n_train
    covariance = (1 - rho) * np.eye(k) + rho
    inverse, unit = np.linalg.inv(covariance), np.ones(k)

    def density(mean):  # sigma^2 integrated out, with s = 1 / sigma^2: int s^(k/2 - 1) exp(-s q / 2) ds
        rest = np.asarray(differences) - mean * unit
        q = rest @ inverse @ rest
        return scipy.integrate.quad(lambda s: s ** (k / 2 - 1) * np.exp(-s / 2), 0, np.inf)[0] * q ** (-k / 2)

    parts = [(rope, np.inf), (-rope, rope), (-np.inf, -rope)]
    areas = np.array([scipy.integrate.quad(density, *part, limit=200)[0] for part in parts])
    return areas / areas.sum()


@pytest.mark.parametrize("share", [0.0, 1 / 3, 0.5])
@pytest.mark.parametrize("rope", [0.1, 0.5, 2.0])
def test_probabilities_are_the_areas_of_the_posterior(share, rope):
    differences = [1.2, -0.4, 0.9, 2.1, 0.3, -1.0]
    found = judge(_scores(differences), _scores([0] * 6), share, rope)
    expected = _posterior(differences, share, rope)
    assert [found.better, found.equivalent, found.worse] == pytest.approx(expected, rel=1e-6)


def test_moments_of_a_published_example():
    """Three folds, 4 2 6 against 5 7 3 (tests of baycomp): the difference has mean 1 and variance 16 (1/3 + 1/2)."""
    found = judge(_scores([5, 7, 3]), _scores([4, 2, 6]), 1 / 2, rope=0.5)
    law = scipy.stats.t(df=2, loc=1, scale=np.sqrt(16 * (1 / 3 + 1 / 2)))
    assert (found.better, found.worse) == pytest.approx((law.sf(0.5), law.cdf(-0.5)))


@given(ACCURACIES, ACCURACIES)
def test_probabilities_sum_to_one_and_swap(a, b):
    first, second = judge(_scores(a), _scores(b), 1 / 3), judge(_scores(b), _scores(a), 1 / 3)
    assert first.better + first.equivalent + first.worse == pytest.approx(1)
    assert (first.better, first.equivalent) == pytest.approx((second.worse, second.equivalent), abs=1e-12)


@given(ACCURACIES, ACCURACIES)
def test_without_a_region_one_side_is_half_the_p_value(a, b):
    found, p_value = judge(_scores(a), _scores(b), 1 / 3, rope=0.0), compare(_scores(a), _scores(b), 1 / 3)
    assert min(found.better, found.worse) == pytest.approx(p_value / 2 if found.equivalent < 0.5 else 0, abs=1e-9)


@pytest.mark.parametrize(("difference", "expected"), [(0.01, (1, 0, 0)), (0.004, (0, 1, 0)), (0.0, (0, 1, 0)), (-0.3, (0, 0, 1))])
def test_the_same_difference_on_every_split_leaves_no_doubt(difference, expected):
    base = [0.1, 0.7, 0.3]
    found = judge(_scores([value + difference for value in base]), _scores(base), 1 / 3)
    assert (found.better, found.equivalent, found.worse) == expected


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_holm_is_closed_testing_with_bonferroni(p_values):
    """A hypothesis falls when every set with it falls: the adjusted value is the largest of n min(p) over those sets."""
    everything = range(len(p_values))
    expected = [
        max(
            min(1.0, size * min(p_values[j] for j in chosen))
            for size in range(1, len(p_values) + 1)
            for chosen in combinations(everything, size)
            if i in chosen
        )
        for i in everything
    ]
    assert holm(p_values) == pytest.approx(expected)


def test_holm_of_a_published_example():
    """Demsar 2006, section 3.2.4: three methods against C4.5; by Holm two of them stand at 5 %, by Bonferroni one."""
    adjusted = holm([0.016, 0.019, 0.607])
    assert adjusted == pytest.approx([0.048, 0.048, 0.607])
    assert holm([]) == []


def _rows():
    levels = {
        ("mine", "cora"): 0.9,
        ("mine", "texas"): 0.7,
        ("a", "cora"): 0.8,
        ("a", "texas"): 0.7,
        ("b", "cora"): 0.95,
        ("b", "texas"): 0.5,
    }
    noise = {"mine": 3, "a": 7, "b": 11}
    return [
        study_row(method, dataset, "uniform", level + 0.001 * (seed * noise[method] % 5), seed)
        for (method, dataset), level in levels.items()
        for seed in range(6)
    ]


def test_the_family_is_the_reference_against_all_others_on_all_datasets():
    found = compare_with(_rows(), "mine")
    assert [(one.method, one.dataset) for one in found] == [("a", "cora"), ("b", "cora"), ("a", "texas"), ("b", "texas")]
    assert [one.adjusted for one in found] == pytest.approx(holm([one.p_value for one in found]))
    assert [one.difference for one in found] == pytest.approx([0.1, -0.05, 0, 0.2], abs=2e-3)
    assert [one.significant for one in found] == [True, True, False, True]
    assert found[0].probabilities.better > 0.99
    assert found[2].probabilities.equivalent > 0.95
    assert found[1].probabilities.worse > 0.99
    for one in found:
        by_method = {
            m: {
                row["split_seed"]: [row["test"]["accuracy"]]
                for row in _rows()
                if (row["method"], row["dataset"]) == (m, one.dataset)
            }
            for m in ("mine", one.method)
        }
        assert one.p_value == compare(by_method["mine"], by_method[one.method], 1 / 3)


def test_wins_ties_and_losses():
    counts = count_wins(_rows())
    assert counts["mine", "a"] == (1, 1, 0)
    assert counts["mine", "b"] == (1, 0, 1)
    assert all(counts[b, a] == counts[a, b][::-1] for a, b in counts)
    assert len(counts) == 6


def test_runs_that_diverged_leave_the_family_smaller():
    rows = [row | {"test": {"accuracy": None}} if (row["method"], row["dataset"]) == ("a", "cora") else row for row in _rows()]
    assert [(one.method, one.dataset) for one in compare_with(rows, "mine")] == [("b", "cora"), ("a", "texas"), ("b", "texas")]
    assert count_wins(rows)["mine", "a"] == (0, 1, 0)


def test_wrong_calls():
    with pytest.raises(
        InputError, match="compare_with: reference must be one of the methods with finished runs, 'mine', 'a', 'b', got"
    ):
        compare_with(_rows(), "other")
    with pytest.raises(InputError, match="compare_with: rows must have one kind of split, got balanced, uniform"):
        compare_with([*_rows(), study_row("a", "cora", "balanced", 0.5, 0)], "mine")
    with pytest.raises(InputError, match="judge: a and b must share at least 2 splits, got 1"):
        judge({0: [1.0]}, {0: [1.0]}, 0.1)
    with pytest.raises(InputError, match="judge: rope must be a finite number >= 0"):
        judge(_scores([1, 2]), _scores([1, 2]), 0.1, rope=-1)

"""The expected best of n trials against all draws, one by one, and trials out of rows."""

from itertools import product
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d import InputError
from chebnet2d.reports import make_tables
from chebnet2d.reports.best_of import best_of_n, expected_best, rank_by_trials
from table_rows import study_row, trial_row


@given(st.lists(st.integers(0, 10).map(lambda n: n / 10), min_size=1, max_size=5))
def test_it_is_the_mean_over_all_draws(scores):
    curve = expected_best(scores)
    assert curve == pytest.approx([fmean(map(max, product(scores, repeat=n))) for n in range(1, len(scores) + 1)])
    assert curve == sorted(curve) or curve == pytest.approx(sorted(curve)), "more trials are never worse"


def test_trials_of_several_runs_and_diverged_ones():
    rows = [trial_row("a", "cora", 0, score, split) for split, score in ((100, 0.6), (101, 0.8))]
    rows += [trial_row("a", "cora", 1, None, 100), trial_row("a", "cora", 1, 0.4, 101)]
    assert best_of_n(rows) == {("a", "cora"): pytest.approx(expected_best([0.7, 0.2]))}
    assert best_of_n([study_row("a", "cora", "uniform", 0.9, 0)]) == {}


def test_a_nested_search_has_a_curve_for_each_split():
    scores = {0: (0.5, 0.9), 1: (0.8, 0.6)}
    rows = [trial_row("a", "cora", n, score, split) for split, of in scores.items() for n, score in enumerate(of)]
    together = best_of_n(rows)["a", "cora"]
    assert together == pytest.approx(expected_best([0.65, 0.75])), "splits that are not reported make one choice"
    apart = best_of_n(rows + [study_row("a", "cora", "uniform", 0.9, split) for split in scores])["a", "cora"]
    assert apart == pytest.approx([(x + y) / 2 for x, y in zip(*map(expected_best, scores.values()), strict=True)])


def test_ranks_change_with_the_number_of_trials():
    steady, lucky = [0.7, 0.7, 0.7, 0.7], [0.5, 0.5, 0.5, 0.95]
    rows = [
        trial_row(method, dataset, number, score, 100)
        for method, scores in (("steady", steady), ("lucky", lucky))
        for dataset in ("x", "y")
        for number, score in enumerate(scores)
    ]
    ranks = rank_by_trials(rows)
    assert ranks["steady"] == [1, 1, 2, 2], "1 - (3/4)^n of 0.45 above 0.5: 0.61, 0.70, 0.76, 0.81"
    assert ranks["lucky"] == [2, 2, 1, 1]
    assert rank_by_trials([]) == {}
    assert rank_by_trials([*rows, trial_row("steady", "z", 0, 0.5, 100)])["steady"] == [1], "as far as all have trials"


def test_trials_are_not_in_tables():
    rows = [study_row("a", "cora", "uniform", 0.9, seed) for seed in range(2)] + [trial_row("a", "cora", 0, 0.1, 100)]
    assert make_tables(rows)[0].cells["a", "cora"].summary.runs == 2
    assert make_tables([trial_row("a", "cora", 0, 0.1, 100)]) == []


def test_wrong_calls():
    with pytest.raises(InputError, match="expected_best: scores must have at least one trial"):
        expected_best([])

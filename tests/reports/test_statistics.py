"""Means, intervals, the test under overlapping splits and ranks, by hand and against scipy."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d.reports.statistics import average_ranks, compare, ranked, summarize


def test_summary_by_hand():
    summary = summarize({0: [0.8, 0.9], 1: [0.7, 0.6]}, test_share=0.5)
    assert summary.mean == pytest.approx(0.75)
    assert summary.std == pytest.approx(np.std([0.8, 0.9, 0.7, 0.6], ddof=1))
    assert (summary.runs, summary.splits) == (4, 2)
    expected = scipy.stats.t.ppf(0.975, 1) * np.sqrt((1 / 2 + 0.5) * np.var([0.85, 0.65], ddof=1))
    assert summary.half_width == pytest.approx(expected)
    assert np.isnan(summarize({0: [0.5]}, 0.3).half_width)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=12))
def test_without_overlap_it_is_the_paired_t_test(pairs):
    a, b = zip(*pairs, strict=True)
    ours = compare({i: [v] for i, v in enumerate(a)}, {i: [v] for i, v in enumerate(b)}, test_share=0.0)
    differences = np.subtract(a, b)
    if differences.std() > 1e-6:
        assert ours == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue, abs=1e-9)
    corrected = compare({i: [v] for i, v in enumerate(a)}, {i: [v] for i, v in enumerate(b)}, test_share=1 / 3)
    assert corrected >= ours - 1e-12, "overlap makes the test more careful, never less"


def test_level_under_overlapping_splits():
    """Two equal methods on overlapping splits: the corrected test says 'different' in about 5 %, the plain one far more often."""
    rng = np.random.default_rng(0)
    plain = corrected = 0
    for _ in range(300):
        pool = rng.normal(size=200)  # difference on each node of one dataset; its mean is noise of the sample
        scores = [pool[rng.permutation(200)[:40]].mean() + pool.mean() for _ in range(10)]
        zero = {i: [0.0] for i in range(10)}
        a = {i: [s] for i, s in enumerate(scores)}
        plain += compare(a, zero, 0.0) < 0.05
        corrected += compare(a, zero, 1 / 3) < 0.05
    assert corrected < plain


def test_ranks_share_ties():
    ranks = average_ranks({"a": {"x": 3, "y": 1}, "b": {"x": 3, "y": 2}, "c": {"x": 1, "y": 3, "z": 9}})
    assert ranks == {"a": (1.5 + 3) / 2, "b": (1.5 + 2) / 2, "c": (3 + 1) / 2}
    assert average_ranks({}) == {}
    assert average_ranks({"a": {"x": 1}, "b": {"y": 1}}) == {}


@given(st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=1, max_size=6))
def test_ranks_are_scipys_and_rounding_does_not_break_ties(table):
    noise = np.random.default_rng(0).uniform(-1e-12, 1e-12, (len(table), 4))
    means = {str(m): dict(enumerate(column)) for m, column in enumerate((np.array(table) / 4 + noise).T)}
    expected = scipy.stats.rankdata(-np.array(table), axis=1).mean(axis=0)
    assert list(average_ranks(means).values()) == pytest.approx(expected)
    assert ranked([means[m][0] for m in means]) == scipy.stats.rankdata(-np.array(table[0]), method="min").tolist()


def test_wrong_calls():
    with pytest.raises(ValueError, match="share at least 2 splits, got 1"):
        compare({0: [1.0]}, {0: [1.0]}, 0.1)
    with pytest.raises(ValueError, match="at least one run"):
        summarize({}, 0.1)

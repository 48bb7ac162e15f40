"""Scalings against scikit-learn and scipy."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import StandardScaler

from chebnet2d.preparation.scaling import FARTHEST, choose_scaling, fit_scaling, skewness

FINITE = arrays(np.float64, st.integers(2, 60), elements=st.floats(-1e6, 1e6))


@given(values=FINITE)
@settings(max_examples=100, deadline=None)
def test_standard_is_scikit_learns(values):
    found = fit_scaling(values, "standard")
    if found.spread > 1e-6 * np.abs(values).max(initial=1e-300):
        expected = StandardScaler().fit_transform(values[:, None])[:, 0]
        np.testing.assert_allclose(found.apply(values), expected, rtol=1e-5, atol=1e-6)


@given(values=FINITE)
@settings(max_examples=100, deadline=None)
def test_skewness_is_scipys(values):
    if values.std() > 1e-6 * max(1.0, np.abs(values).max()):
        assert skewness(values) == pytest.approx(scipy.stats.skew(values), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("sample", ["lognormal", "ties"])
def test_quantile_is_the_normal_score_of_the_middle_rank(sample):
    rng = np.random.default_rng(0)
    values = rng.lognormal(0, 2, 5000) if sample == "lognormal" else rng.choice([0.0] * 8 + [1, 5], 5000)
    shares = (scipy.stats.rankdata(values) - 0.5) / values.size
    scores = scipy.stats.norm.ppf(np.clip(shares, 1e-3, 1 - 1e-3))
    expected = (scores - scores.mean()) / scores.std()
    found = fit_scaling(values, "quantile").apply(values)
    middle = (shares > 0.01) & (shares < 0.99)  # beyond, 257 quantiles are interpolated
    np.testing.assert_allclose(found[middle], expected[middle], atol=0.05)
    np.testing.assert_allclose(found, expected, atol=0.5)


@given(values=FINITE, scaling=st.sampled_from(["standard", "signed-log", "quantile"]))
@settings(max_examples=150, deadline=None)
def test_order_is_kept_and_nothing_is_infinite(values, scaling):
    scaled = fit_scaling(values, scaling).apply(np.sort(values))
    assert (np.diff(scaled) >= -1e-9).all()
    assert np.abs(scaled).max() <= FARTHEST


def test_numbers_beyond_the_range_of_sums_are_ranked():
    values = np.array([-1.7e308, 1.7e308, 1.6e308, 0.0])
    assert choose_scaling(values).scaling == "quantile"
    assert np.isfinite(choose_scaling(values).apply(values)).all()

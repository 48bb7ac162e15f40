"""Reached, approached or out of reach."""

import numpy as np
import pytest
from hypothesis import given

from chebnet2d.theory import construct
from chebnet2d.theory.claims.one_paradigm import limit_case
from theory_examples import SEEDS, output_of, random_parameters, signal, small_spectrum


class TestApproached:
    @pytest.mark.parametrize("tolerance", [1e-9, 1e-6, 1e-3])
    def test_a_limit_is_not_reached_whatever_the_tolerance(self, tolerance):
        result = limit_case().construct("II", tolerance=tolerance)
        assert result.approached
        assert not any((result.reached, result.fails, result.certified))
        assert result.amplification > 1e5
        assert "not attained: row 1 of Z^" in result.how

    def test_the_limit_by_hand(self):
        """The error of R = diag(1, t) with filters 1, 1/t, 1 is t; R = diag(1, 0) loses row 2."""
        case = limit_case()
        for t in (1e-2, 1e-4):
            assert np.linalg.norm(np.array([[1], [1 / t], [1]]) * (case.f @ np.diag([1, t])) - case.z) == pytest.approx(t)

    @given(seed=SEEDS)
    def test_limits_elsewhere(self, seed):
        """The same rows in other bases of input and output and with other lengths, among rows that R = diag(1, 0) makes."""
        rng = np.random.default_rng(seed)
        nodes = 8
        left, right = (np.linalg.qr(rng.standard_normal((2, 2)))[0] for _ in range(2))
        case = limit_case()
        f = np.concatenate([case.f, rng.standard_normal((nodes - 3, 2))])
        z = np.concatenate([case.z, np.tile([1.0, 0.0], (nodes - 3, 1))]) * rng.uniform(0.5, 2, (nodes, 1))
        spectrum = small_spectrum(rng, nodes)
        result = construct(spectrum, signal(spectrum, f @ left), signal(spectrum, z @ right), "II", seed=seed % 1000)
        assert result.blocked == 1
        assert not result.reached

    @pytest.mark.parametrize("paradigm", ["II", "I+II", "II+III", "II+II"])
    @given(seed=SEEDS)
    def test_what_was_made_is_reached(self, paradigm, seed):
        rng = np.random.default_rng(seed)
        terms = paradigm.split("+")
        nodes, channels = int(rng.integers(5, 12)), 3
        spectrum = small_spectrum(rng, nodes)
        f = rng.standard_normal((nodes, channels))
        z = output_of(f, terms, random_parameters(rng, terms, nodes, channels, channels))
        result = construct(spectrum, signal(spectrum, f), signal(spectrum, z), paradigm, restarts=16)
        assert result.blocked is None
        assert not (result.error < 1e-9 * result.scale and result.approached)


@given(seed=SEEDS)
def test_the_bound_by_directions_holds_for_equal_maps(seed):
    """R_1 = R_2 has a = 0 in every row: one term of Paradigm II cannot go below the bound of two."""
    rng = np.random.default_rng(seed)
    spectrum = small_spectrum(rng, 20)
    x, z = rng.standard_normal((20, 3)), rng.standard_normal((20, 3))
    one, two = construct(spectrum, x, z, "II", restarts=4), construct(spectrum, x, z, "II+II", restarts=1)
    assert two.lower_bound <= one.error + 1e-12
    assert "lifted" in two.reason

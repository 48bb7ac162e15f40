"""Bounds of the error."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d.theory import construct
from chebnet2d.theory.bounds import _compound, _wedge
from theory_examples import SEEDS, output_of, random_parameters, signal, small_spectrum, sparse_rows


class TestBounds:
    """A lower bound must hold for all parameters: random ones, and those that an optimiser likes best."""

    @pytest.mark.parametrize("paradigm", ["II", "I+II", "II+III", "I+II+III", "II+II", "I+II+II", "II+II+III"])
    @given(seed=SEEDS)
    def test_no_parameters_go_below(self, paradigm, seed):
        rng = np.random.default_rng(seed)
        terms = paradigm.split("+")
        nodes, channels = int(rng.integers(4, 24)), int(rng.integers(2, 5))
        spectrum = small_spectrum(rng, nodes)
        f = sparse_rows(rng, nodes, channels)
        if rng.random() < 0.5:  # parallel rows
            f[1:3] = rng.standard_normal((2, 1)) * f[0]
        if rng.random() < 0.3:  # low rank
            f = rng.standard_normal((nodes, 1)) @ rng.standard_normal((1, channels))
        if rng.random() < 0.2:
            f[-1] = 0
        near = output_of(f, terms, random_parameters(rng, terms, nodes, channels, channels))
        z = near + rng.choice([0.0, 1e-3, 1.0]) * rng.standard_normal((nodes, channels))
        result = construct(spectrum, signal(spectrum, f), signal(spectrum, z), paradigm, restarts=16, seed=seed % 1000)
        slack = 1e-9 * result.scale
        assert result.lower_bound <= result.error + slack
        assert result.lower_bound <= np.linalg.norm(near - z) + slack
        for _ in range(10):
            tried = output_of(f, terms, random_parameters(rng, terms, nodes, channels, channels))
            factor = (tried * z).sum() / max((tried * tried).sum(), 1e-300)
            assert result.lower_bound <= np.linalg.norm(factor * tried - z) + slack

    def test_rank_is_eckart_young(self):
        rng = np.random.default_rng(0)
        spectrum = small_spectrum(rng, 15)
        f, z = rng.standard_normal((15, 1)) @ rng.standard_normal((1, 4)), rng.standard_normal((15, 4))
        values = scipy.linalg.svdvals(z)
        for terms in (1, 2, 3):
            result = construct(spectrum, signal(spectrum, f), signal(spectrum, z), ["II"] * terms)
            assert result.lower_bound == pytest.approx(np.sqrt((values[terms:] ** 2).sum()), rel=1e-9)
            assert result.optimal
        # Paradigm I with rank-1 rows adds nothing to the row space: f_m is a multiple of one vector.
        assert construct(spectrum, signal(spectrum, f), signal(spectrum, z), "I+II").fails

    def test_second_singular_value_of_the_block(self):
        rng = np.random.default_rng(1)
        spectrum = small_spectrum(rng, 10)
        f, z = rng.standard_normal((10, 3)) + 3, rng.standard_normal((10, 3))
        f[4], f[7] = (2, 0, 0), (2, 0, 0)
        result = construct(spectrum, signal(spectrum, f), signal(spectrum, z), "I+II+III")
        expected = scipy.linalg.svdvals(z[np.ix_([4, 7], [1, 2])])[1]
        assert result.lower_bound == pytest.approx(expected, rel=1e-9)
        assert result.error == pytest.approx(expected, rel=1e-9)
        assert "parallel" in result.how

    def test_generic_targets_are_certified_by_directions(self):
        """No zero, no parallel rows, full rank: only the lifted system can tell."""
        rng = np.random.default_rng(2)
        spectrum = small_spectrum(rng, 40)
        x, z = rng.standard_normal((40, 3)), rng.standard_normal((40, 3))
        for paradigm in ("II", "I+II", "II+II"):
            result = construct(spectrum, x, z, paradigm, restarts=16)
            assert result.fails
            assert "lifted" in result.how
            assert 0.05 < result.lower_bound / result.error <= 1

    @given(seed=SEEDS, rank=st.integers(1, 3))
    def test_wedge_gives_the_distance_from_a_span(self, seed, rank):
        rng = np.random.default_rng(seed)
        outputs = 4
        vectors, y = rng.standard_normal((rank, outputs)), rng.standard_normal(outputs)
        wedges = list(itertools.combinations(range(outputs), rank))
        product = np.array([np.linalg.det(vectors[:, wedge]) for wedge in wedges])
        wedge = _wedge(product[None, :, None], y[None], wedges, outputs)
        distance = np.linalg.norm(y - vectors.T @ np.linalg.lstsq(vectors.T, y, rcond=None)[0])
        assert np.linalg.norm(wedge) / np.linalg.norm(product) == pytest.approx(distance, abs=1e-9)
        matrix = rng.standard_normal((outputs, outputs))
        moved = np.array([np.linalg.det((vectors @ matrix)[:, wedge]) for wedge in wedges])
        np.testing.assert_allclose(product @ _compound(matrix[None], wedges)[0], moved, atol=1e-9)

"""Sharing of parameters."""

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d import InputError
from chebnet2d.theory import construct_shared, separate, toeplitz
from chebnet2d.theory.example_graphs import path, spectrum_of_edges
from theory_examples import SEEDS, signal, small_spectrum, sparse_rows


class TestSharing:
    def test_nothing_shared_is_the_full_convolution(self):
        rng = np.random.default_rng(0)
        spectrum = small_spectrum(rng, 6)
        x, z = rng.standard_normal((6, 2)), rng.standard_normal((6, 3))
        result = construct_shared(spectrum, x, z, separate(6, 2, 3))
        assert result.reached
        assert result.num_parameters == 36

    def test_everything_shared_is_one_number(self):
        rng = np.random.default_rng(1)
        spectrum = small_spectrum(rng, 6)
        f, z = rng.standard_normal((6, 2)), rng.standard_normal((6, 2))
        result = construct_shared(spectrum, signal(spectrum, f), signal(spectrum, z), np.zeros((6, 2, 2), dtype=int))
        sums = np.repeat(f.sum(axis=1, keepdims=True), 2, axis=1)
        number = (sums * z).sum() / (sums * sums).sum()
        assert result.error == pytest.approx(np.linalg.norm(number * sums - z), rel=1e-9)
        assert result.fails
        assert result.optimal

    @given(seed=SEEDS, inputs=st.integers(1, 6), outputs=st.integers(1, 6))
    def test_toeplitz_maps_reach_everything(self, seed, inputs, outputs):
        """Whatever the zero pattern: the matrix of polynomial multiplication has full rank."""
        rng = np.random.default_rng(seed)
        nodes = 5
        spectrum = small_spectrum(rng, nodes)
        f = sparse_rows(rng, nodes, inputs)
        z = rng.standard_normal((nodes, outputs))
        result = construct_shared(spectrum, signal(spectrum, f), signal(spectrum, z), toeplitz(nodes, inputs, outputs))
        assert result.num_parameters == nodes * (inputs + outputs - 1)
        assert result.reached
        first = result.parameters[0]["theta"].numpy()[0]
        np.testing.assert_array_equal(first, scipy.linalg.toeplitz(first[:, 0], first[0]))

    @given(seed=SEEDS, channels=st.integers(2, 4))
    def test_sharing_across_both_channels_of_a_row_costs_nothing(self, seed, channels):
        rng = np.random.default_rng(seed)
        spectrum = small_spectrum(rng, 4)
        f, z = rng.integers(-1, 2, (4, channels)).astype(float), rng.standard_normal((4, channels))
        f[~f.any(axis=1), 0] = 1.0
        (c, other_c), (j, other_j) = rng.permutation(channels)[:2], rng.permutation(channels)[:2]
        labels = separate(4, channels, channels)
        labels[:, c, j] = labels[:, other_c, other_j]
        assert construct_shared(spectrum, signal(spectrum, f), signal(spectrum, z), labels).reached

    def test_labels_are_checked(self):
        spectrum = spectrum_of_edges(path(3), 3)
        with pytest.raises(InputError, match=r"labels must be integers of shape \(3, 2, 2\), got \(3, 2\)"):
            construct_shared(spectrum, np.ones((3, 2)), np.ones((3, 2)), np.zeros((3, 2), dtype=int))

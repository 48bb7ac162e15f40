"""construct for linear and bilinear paradigms against dense linear algebra and scipy."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import torch
from hypothesis import given

from chebnet2d.theory import construct
from chebnet2d.theory.claims.random_search import SUMS, reachable
from theory_examples import SEEDS, output_of, random_parameters, signal, small_spectrum, sparse_rows


class TestLinear:
    """I, III and 2-D against least squares on the explicit NC x parameters matrix in the vertex domain."""

    @pytest.mark.parametrize("paradigm", ["I", "III", "2d", "I+III", "I+I"])
    @given(seed=SEEDS)
    def test_error_is_the_least_squares_error(self, paradigm, seed):
        rng = np.random.default_rng(seed)
        nodes, channels = int(rng.integers(3, 7)), int(rng.integers(1, 4))
        spectrum = small_spectrum(rng, nodes)
        u = spectrum.eigenvectors.numpy()
        f = sparse_rows(rng, nodes, channels)
        target = rng.standard_normal((nodes, channels))
        columns = []
        for n in range(nodes):
            projector = np.outer(u[:, n], u[:, n]) @ signal(spectrum, f)  # the filter that passes frequency n alone
            if paradigm in ("I", "I+I"):
                columns.append(projector.ravel())
                continue
            pairs = itertools.product(range(channels), repeat=2) if paradigm == "2d" else [(c, c) for c in range(channels)]
            for c, j in pairs:
                column = np.zeros((nodes, channels))
                column[:, j] = projector[:, c]
                columns.append(column.ravel())
        design = np.stack(columns, axis=1)
        best = design @ np.linalg.lstsq(design, target.ravel(), rcond=1e-10)[0]
        result = construct(spectrum, signal(spectrum, f), target, paradigm)
        assert result.error == pytest.approx(np.linalg.norm(best - target.ravel()), abs=1e-8)
        assert result.lower_bound == pytest.approx(result.error, abs=1e-8)
        assert result.certified
        assert result.starts == 0

    def test_parameters_are_those_of_the_layers(self):
        rng = np.random.default_rng(0)
        spectrum = small_spectrum(rng, 6)
        x, z = rng.standard_normal((6, 2)), rng.standard_normal((6, 3))
        result = construct(spectrum, x, z, "2d")
        theta = result.parameters[0]["theta"]
        assert theta.shape == (6, 2, 3)
        assert result.num_parameters == 6 * 2 * 3
        by_hand = signal(spectrum, np.einsum("nc,ncj->nj", spectrum.eigenvectors.numpy().T @ x, theta.numpy()))
        np.testing.assert_allclose(by_hand, z, atol=1e-11)
        np.testing.assert_allclose(result(torch.from_numpy(x)).numpy(), z, atol=1e-11)

    def test_a_frequency_that_is_absent_is_lost(self):
        rng = np.random.default_rng(1)
        spectrum = small_spectrum(rng, 8)
        f, z = rng.standard_normal((8, 3)), rng.standard_normal((8, 3))
        f[2] = 0
        for paradigm in ("2d", "I+II+III", "II+II+II"):
            result = construct(spectrum, signal(spectrum, f), signal(spectrum, z), paradigm)
            assert result.error == pytest.approx(np.linalg.norm(z[2]), rel=1e-9)
            assert result.fails
            assert result.optimal
            assert "zero rows" in result.how


class TestBilinear:
    def test_reachable_targets_are_reached(self):
        """At least 99 of 100, and no certificate says otherwise."""
        rng = np.random.default_rng(2024)
        errors = []
        for i in range(100):
            paradigm = SUMS[i % len(SUMS)]
            result = reachable(rng, paradigm).construct(paradigm, seed=i)
            assert not result.fails
            errors.append(result.error)
        assert sum(error < 1e-8 for error in errors) >= 99

    @pytest.mark.parametrize(("paradigm", "nodes", "channels"), [("II+II", 34, 3), ("II+II", 60, 5), ("I+II+II", 40, 4)])
    def test_larger_reachable_targets(self, paradigm, nodes, channels):
        rng = np.random.default_rng(nodes)
        spectrum = small_spectrum(rng, nodes)
        f = rng.standard_normal((nodes, channels))
        terms = paradigm.split("+")
        z = output_of(f, terms, random_parameters(rng, terms, nodes, channels, channels))
        assert construct(spectrum, signal(spectrum, f), signal(spectrum, z), paradigm).error < 1e-8

    @pytest.mark.parametrize("paradigm", ["II", "I+II", "II+III", "II+II"])
    def test_as_good_as_scipy_from_many_starts(self, paradigm):
        """On targets that are out of reach; scipy knows nothing of elimination or first guesses."""
        rng = np.random.default_rng(7)
        nodes, channels = 10, 3
        spectrum = small_spectrum(rng, nodes)
        f, z = sparse_rows(rng, nodes, channels), rng.standard_normal((nodes, channels))
        terms = paradigm.split("+")

        def unpack(vector):
            values, start = [], 0
            for name in terms:
                size = {"I": nodes, "III": nodes * channels}.get(name, nodes + channels**2)
                part, start = vector[start : start + size], start + size
                if name == "II":
                    values.append((part[:nodes], part[nodes:].reshape(channels, channels)))
                else:
                    values.append(part if name == "I" else part.reshape(nodes, channels))
            return {"outputs": channels, "values": values}

        size = sum({"I": nodes, "III": nodes * channels}.get(name, nodes + channels**2) for name in terms)
        best = min(
            scipy.optimize.least_squares(
                lambda v: (output_of(f, terms, unpack(v)) - z).ravel(), rng.standard_normal(size), method="trf", max_nfev=150
            ).cost
            for _ in range(4)
        )
        result = construct(spectrum, signal(spectrum, f), signal(spectrum, z), paradigm)
        assert result.error <= np.sqrt(2 * best) * (1 + 1e-6)
        assert result.lower_bound <= result.error * (1 + 1e-9)

    def test_rank_r_is_r_terms_of_paradigm_two(self):
        rng = np.random.default_rng(3)
        spectrum = small_spectrum(rng, 12)
        x, z = rng.standard_normal((12, 3)), rng.standard_normal((12, 3))
        as_rank, as_sum = construct(spectrum, x, z, "rank", rank=2), construct(spectrum, x, z, ["II", "II"])
        assert as_rank.error == pytest.approx(as_sum.error, rel=1e-9)
        assert as_rank.num_parameters == as_sum.num_parameters == 2 * (12 + 9)
        assert as_rank.parameters[0]["filters"].shape == (12, 2)

    def test_map_to_another_number_of_channels(self):
        rng = np.random.default_rng(4)
        spectrum = small_spectrum(rng, 9)
        f = rng.standard_normal((9, 2))
        z = rng.standard_normal((9, 1)) * (f @ rng.standard_normal((2, 5)))
        assert construct(spectrum, signal(spectrum, f), signal(spectrum, z), "II").reached

    def test_a_two_d_term_takes_everything(self):
        rng = np.random.default_rng(5)
        spectrum = small_spectrum(rng, 7)
        result = construct(spectrum, rng.standard_normal((7, 2)), rng.standard_normal((7, 2)), "II+2d+I")
        assert result.reached
        assert [sorted(term) for term in result.parameters] == [["theta", "weight"], ["theta"], ["theta"]]

"""What lies beyond the paper, against other ways to compute it."""

import numpy as np
import pytest
import scipy.interpolate
import torch
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d import InputError
from chebnet2d.polynomials import chebyshev_nodes, coefficient_matrix
from chebnet2d.theory import (
    complexities,
    construct_shared,
    division,
    effective_numbers,
    ellipse_bound,
    lebesgue_constant,
    measure_gaps,
    stability_constant,
    variation_bound,
)
from chebnet2d.theory.adam import planted, train
from chebnet2d.theory.approximation import interpolant
from chebnet2d.theory.claims.fewest import plain_arrays
from chebnet2d.theory.claims.stability import moved, weighted_path
from chebnet2d.theory.generalisation import PARADIGMS, support
from theory_examples import SEEDS, signal, small_spectrum, sparse_rows


class TestEffective:
    @pytest.mark.parametrize(("hidden", "channels", "degree"), [(4, 2, 1), (6, 3, 2), (5, 4, 2)])
    def test_formulas(self, hidden, channels, degree):
        """Terms need not come from a graph: random ones have independent columns as well."""
        terms = torch.randn(degree + 1, 80, hidden, dtype=torch.float64)
        redundant = {name: effective_numbers(terms, channels, name).redundant for name in ("I", "II", "III", "rank", "2d")}
        square = channels**2
        rank = 2 if degree > 0 else 1
        assert redundant == {"I": 1, "II": square + 1, "III": channels, "rank": square + rank**2, "2d": square}
        modulo = effective_numbers(terms, channels, softmax=True)
        assert modulo.redundant == square + (degree + 1) * channels
        assert modulo.gap > 1e6

    def test_fewer_hidden_units_than_channels(self):
        """Rank at most H: H (D + 1) C effective numbers."""
        terms = torch.randn(3, 60, 2, dtype=torch.float64)
        assert effective_numbers(terms, 4).effective == 2 * 3 * 4

    def test_unknown_paradigm(self):
        with pytest.raises(InputError, match="paradigm must be one of"):
            effective_numbers(torch.ones(2, 4, 2), 2, "IV")


class TestDivision:
    @given(seed=SEEDS, inputs=st.integers(1, 18), outputs=st.integers(1, 18))
    def test_reaches_everything(self, seed, inputs, outputs):
        rng = np.random.default_rng(seed)
        spectrum = small_spectrum(rng, 4)
        f, z = sparse_rows(rng, 4, inputs), rng.standard_normal((4, outputs))
        labels, signs = division(4, inputs, outputs)
        result = construct_shared(spectrum, signal(spectrum, f), signal(spectrum, z), labels, signs=signs)
        assert result.reached
        assert result.num_parameters <= 4 * (inputs + outputs - 1)

    def test_products_keep_the_length(self):
        """|f y| = |f| |y| for complex numbers, quaternions and octonions: the table is theirs."""
        rng = np.random.default_rng(0)
        for size in (2, 4, 8):
            labels, signs = (array[0] for array in division(1, size, size))
            f, y = rng.standard_normal((2, size))
            product = np.bincount(labels.ravel(), weights=(signs * np.outer(f, y)).ravel())
            assert np.linalg.norm(product) == pytest.approx(np.linalg.norm(f) * np.linalg.norm(y))

    def test_candidates_without_signs(self):
        assert len(plain_arrays(2, 2)) == 0
        assert len(plain_arrays(3, 4)) == 18
        assert all(len(set(line)) == 3 for array in plain_arrays(3, 4) for line in (*array, *array.T))


class TestAdam:
    @pytest.mark.parametrize("scaling", ["interpolation", "coefficients"])
    def test_is_torchs_adam(self, scaling):
        problem = planted("smooth", [3], nodes=30, channels=2, degree=4)
        terms, outputs = torch.from_numpy(problem.terms[0]), torch.from_numpy(problem.outputs[0])
        start = torch.eye(2).double() * (torch.ones(5) if scaling == "interpolation" else torch.eye(5)[0])[:, None, None]
        theta = start.double().clone().requires_grad_()
        optimiser = torch.optim.Adam([theta], lr=0.03)
        for _ in range(20):
            optimiser.zero_grad()
            maps = torch.einsum("db,bcj->dcj", coefficient_matrix(4, scaling), theta)
            ((terms @ maps.reshape(-1, 2) - outputs) ** 2).mean().backward()
            optimiser.step()
        maps = torch.einsum("db,bcj->dcj", coefficient_matrix(4, scaling), theta.detach())
        error = float((terms @ maps.reshape(-1, 2) - outputs).norm() / outputs.norm())
        assert train(problem, scaling, steps=20, rates=(0.03,)).errors[-1, 0, 0] == pytest.approx(error, rel=1e-9)


class TestApproximation:
    def test_interpolant_is_scipys(self):
        nodes, places = chebyshev_nodes(7).numpy(), np.linspace(-1, 1, 50)
        wanted = scipy.interpolate.barycentric_interpolate(nodes, np.exp(nodes), places)
        np.testing.assert_allclose(interpolant(np.exp(nodes), places), wanted, atol=1e-12)

    @given(degree=st.integers(1, 40), pole=st.floats(1.05, 3), share=st.floats(0.2, 0.95))
    def test_bounds_hold(self, degree, pole, share):
        nodes, places = chebyshev_nodes(degree).numpy(), np.linspace(-1, 1, 801)
        rho = 1 + share * (pole + np.sqrt(pole**2 - 1) - 1)
        largest = 1 / (pole - (rho + 1 / rho) / 2)
        error = np.abs(interpolant(1 / (pole - nodes), places) - 1 / (pole - places)).max()
        assert error <= ellipse_bound(largest, rho, degree) + 1e-11
        kink = pole - 2
        error = np.abs(interpolant(np.abs(nodes - kink), places) - np.abs(places - kink)).max()
        assert error <= variation_bound(2.0, degree)

    def test_lebesgue_constant_by_hand(self):
        """One node: 1. Two nodes at +-1/sqrt 2: at x = 1 the two polynomials are (1 +- sqrt 2) / 2, with absolute sum sqrt 2."""
        assert lebesgue_constant(0) == pytest.approx(1)
        assert lebesgue_constant(1) == pytest.approx(2**0.5)


class TestStability:
    @given(seed=SEEDS, degree=st.integers(0, 8))
    def test_no_pair_of_matrices_moves_further(self, seed, degree):
        """Symmetric matrices with spectra in [-1, 1] need not be Laplacians."""
        rng = np.random.default_rng(seed)
        pair = []
        for _ in range(2):
            q, _ = np.linalg.qr(rng.standard_normal((6, 6)))
            pair.append(q @ np.diag(np.clip(rng.normal(scale=1.5, size=6), -1, 1)) @ q.T)
        maps = rng.standard_normal((degree + 1, 2, 3))
        assert moved(*pair, maps) <= stability_constant(maps) * (1 + 1e-9)

    def test_the_weak_edge_by_hand(self):
        """|L - L'| is the norm of a path with weights 1/2, 1, 1/2 to first order, (1 + sqrt 2)/2."""
        unit = np.zeros((2, 1, 1))
        unit[1] = 1.0
        size = np.linalg.norm(weighted_path(1e-6) - weighted_path(2e-6), ord=2) / 1e-6
        assert size == pytest.approx((1 + 2**0.5) / 2, rel=1e-4)
        assert moved(weighted_path(1e-6), weighted_path(2e-6), unit) == pytest.approx(1.0)

    def test_shape(self):
        with pytest.raises(InputError, match="stability_constant: maps must be"):
            stability_constant(np.ones((2, 2)))


class TestGeneralisation:
    @given(seed=SEEDS)
    def test_no_maps_of_the_paradigm_exceed_h(self, seed):
        """And those that the formula stands for attain it."""
        rng = np.random.default_rng(seed)
        degrees, channels, rank = 4, 3, 2
        matrix = rng.standard_normal((degrees, channels, channels))
        h = {name: float(value) for name, value in support(torch.from_numpy(matrix), rank).items()}
        eye = np.eye(channels)
        draws = {
            "I": rng.standard_normal(degrees)[:, None, None] * eye,
            "II": np.einsum("d,cj->dcj", rng.standard_normal(degrees), rng.standard_normal((channels, channels))),
            "III": rng.standard_normal((degrees, channels))[:, :, None] * eye,
            "rank": np.einsum(
                "di,icj->dcj", rng.standard_normal((degrees, rank)), rng.standard_normal((rank, channels, channels))
            ),
            "2d": rng.standard_normal((degrees, channels, channels)),
        }
        left, sizes, right = np.linalg.svd(matrix.reshape(degrees, -1), full_matrices=False)
        best = {
            "I": np.einsum("dcc->d", matrix)[:, None, None] * eye,
            "II": (left[:, :1] * sizes[:1] @ right[:1]).reshape(matrix.shape),
            "III": np.einsum("dcc->dc", matrix)[:, :, None] * eye,
            "rank": (left[:, :rank] * sizes[:rank] @ right[:rank]).reshape(matrix.shape),
            "2d": matrix,
        }
        for name in PARADIGMS:
            assert (matrix * draws[name]).sum() <= h[name] * np.linalg.norm(draws[name]) + 1e-9
            assert (matrix * best[name]).sum() / np.linalg.norm(best[name]) == pytest.approx(h[name])

    def test_gaps_stay_below_the_bound(self):
        terms = torch.randn(3, 40, 3, dtype=torch.float64)
        labels = torch.randint(0, 3, (40,))
        gaps = measure_gaps(terms, labels, sizes=(0.5, 2.0), splits=4, steps=60)
        assert [gap.paradigm for gap in gaps[::2]] == list(PARADIGMS)
        assert all(gap.gap <= gap.bound for gap in gaps)
        assert gaps[-1].training < gaps[0].training
        ratio = gaps[1].bound / gaps[0].bound
        assert ratio == pytest.approx(4.0)

    def test_expectation_of_one_number(self):
        """One node pair, one channel, degree 0: h = |F_i| for the node i that is drawn."""
        terms = torch.tensor([[[1.0], [3.0]]], dtype=torch.float64)
        assert complexities(terms, rank=1, draws=4000)["2d"] == pytest.approx(2.0, rel=0.03)

"""construct, its bounds, sharing, the degree limit and the counters, against dense linear algebra and scipy."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import torch
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d import InputError
from chebnet2d.conv import SpectralConv
from chebnet2d.graph import Spectrum, adjacency, shifted_laplacian
from chebnet2d.theory import construct, construct_shared, convolution_costs, degree_curve, separate, toeplitz
from chebnet2d.theory.bounds import _compound, _wedge
from chebnet2d.theory.claims.search import SUMS, reachable
from chebnet2d.theory.example_graphs import complete, component_sample, karate, path, random_graph, spectrum_of_edges, star
from chebnet2d.theory.reduction import clean
from data_root import real_data_root

SEEDS = st.integers(0, 2**31 - 1)


def small_spectrum(rng, nodes):
    return spectrum_of_edges(random_graph(nodes, 0.3, rng), nodes)


def signal(spectrum, spectral):
    return spectrum.eigenvectors.numpy() @ spectral


def sparse_rows(rng, nodes, channels):
    """Random, with zeros, but no zero row."""
    f = rng.standard_normal((nodes, channels))
    absent = rng.random(f.shape) < 0.4
    absent[np.arange(nodes), rng.integers(0, channels, nodes)] = False
    return np.where(absent, 0.0, f)


def output_of(f, terms, parameters):
    """The definitions of the paradigms in the spectral domain, row by row: what the tests hold the library against."""
    z = np.zeros((len(f), parameters["outputs"]))
    at = iter(parameters["values"])
    for name in terms:
        if name == "I":
            z += next(at)[:, None] * f
        elif name == "III":
            z += next(at) * f
        else:
            q, r = next(at)
            z += q[:, None] * (f @ r)
    return z


def random_parameters(rng, terms, nodes, channels, outputs):
    shapes = {"I": lambda: rng.standard_normal(nodes), "III": lambda: rng.standard_normal((nodes, channels))}
    shapes["II"] = lambda: (rng.standard_normal(nodes), rng.standard_normal((channels, outputs)))
    return {"outputs": outputs, "values": [shapes[name]() for name in terms]}


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


class TestDegree:
    @given(seed=SEEDS, degree=st.integers(0, 4))
    def test_curve_is_least_squares_on_powers(self, seed, degree):
        rng = np.random.default_rng(seed)
        nodes, channels = int(rng.integers(6, 20)), int(rng.integers(1, 4))
        edges = random_graph(nodes, 0.3, rng)
        operator = shifted_laplacian(adjacency(edges, num_nodes=nodes), dtype=torch.float64).to_dense().numpy()
        x, z = rng.standard_normal((2, nodes, channels))
        design = np.concatenate([np.linalg.matrix_power(operator, d) @ x for d in range(degree + 1)], axis=1)
        left = z - design @ np.linalg.lstsq(design, z, rcond=1e-12)[0]
        curve = degree_curve(spectrum_of_edges(edges, nodes), x, z, largest=degree)
        assert curve.errors[degree] == pytest.approx(np.linalg.norm(left) / np.linalg.norm(z), abs=1e-6)
        assert curve.dimensions[degree] == np.linalg.matrix_rank(design, tol=1e-9)

    def test_the_layer_reaches_the_curve(self):
        """Least squares for the coefficients of a real ``SpectralConv``, by its own output for unit parameters."""
        rng = np.random.default_rng(0)
        edges, degree = karate(), 3
        operator = shifted_laplacian(adjacency(edges), dtype=torch.float64)
        x, z = torch.from_numpy(rng.standard_normal((34, 2))), torch.from_numpy(rng.standard_normal((34, 2)))
        layer = SpectralConv(2, 2, degree, paradigm="2d").double()
        columns = []
        with torch.no_grad():
            for unit in torch.eye((degree + 1) * 4, dtype=torch.float64):
                layer.paradigm.load_state_dict({"theta": unit.reshape(degree + 1, 2, 2)})
                columns.append(layer(x, operator).reshape(-1))
            design = torch.stack(columns, dim=1)
            best = torch.linalg.lstsq(design, z.reshape(-1)).solution
            layer.paradigm.load_state_dict({"theta": best.reshape(degree + 1, 2, 2)})
            error = float((layer(x, operator) - z).norm() / z.norm())
        assert degree_curve(edges, x, z).errors[degree] == pytest.approx(error, rel=1e-9)

    @pytest.mark.parametrize(
        ("edges", "nodes", "distinct", "multiplicity"),
        [(path(30), 30, 30, 1), (star(30), 30, 3, 28), (complete(30), 30, 2, 29)],
        ids=["path", "star", "complete"],
    )
    def test_families(self, edges, nodes, distinct, multiplicity):
        rng = np.random.default_rng(0)
        x, z = rng.standard_normal((2, nodes, 4))
        curve = degree_curve(spectrum_of_edges(edges, nodes), x, z)
        assert (curve.distinct, curve.largest_multiplicity) == (distinct, multiplicity)
        reachable_dimension = nodes if multiplicity == 1 else distinct - 1 + 4
        assert curve.reachable == reachable_dimension
        assert curve.degree_needed == -(-reachable_dimension // 4) - 1
        assert curve.errors[curve.degree_needed] == pytest.approx(curve.floor, abs=1e-9)
        assert curve.errors[curve.degree_needed - 1] > curve.floor + 1e-4
        assert (np.diff(curve.errors) <= 1e-12).all()

    def test_eigenvalues_in_closed_form(self):
        np.testing.assert_allclose(
            spectrum_of_edges(path(9), 9).eigenvalues.numpy(), np.sort(-np.cos(np.pi * np.arange(9) / 8)), atol=1e-12
        )
        np.testing.assert_allclose(spectrum_of_edges(star(6), 6).eigenvalues.numpy(), [-1, 0, 0, 0, 0, 1], atol=1e-12)
        np.testing.assert_allclose(spectrum_of_edges(complete(5), 5).eigenvalues.numpy(), [-1] + 4 * [0.25], atol=1e-12)


class TestComplexity:
    def test_counts_by_hand(self):
        """A path of 5 nodes: 8 stored entries, D = 2, C = 3."""
        costs = {
            cost.paradigm: cost.counted
            for cost in convolution_costs(shifted_laplacian(adjacency(path(5)), dtype=torch.float64), 3, 2, rank=2)
        }
        assert {name: count.graph for name, count in costs.items()} == dict.fromkeys(costs, 2 * 8 * 3)
        assert costs["I"].nodes == costs["III"].nodes == 3 * 5 * 3
        assert costs["II"].nodes == 3 * 5 * 3 + 5 * 9
        assert costs["2d"].nodes == 3 * 5 * 9
        assert {name: count.parameters for name, count in costs.items()} == {
            "I": 3,
            "II": 3 + 9,
            "III": 9,
            "2d": 27,
            "rank": 2 * (3 + 9),
        }


class TestGraphs:
    def test_karate_club_is_networkx(self):
        networkx = pytest.importorskip("networkx")
        ours = {tuple(edge) for edge in karate().T.tolist()}
        assert ours == {tuple(sorted(edge)) for edge in networkx.karate_club_graph().edges}

    def test_component_sample(self):
        edges = torch.tensor([[0, 1, 2, 5, 5, 5], [1, 2, 3, 6, 7, 8]])
        sample, nodes = component_sample(edges, 3)
        assert nodes == 3
        assert sample.max() == 2
        pairs = {tuple(sorted(pair)) for pair in sample.T.tolist()}
        # Components of 4 and 4 nodes: the first wins; breadth first from node 1 (or 2), which has two neighbours.
        assert len(pairs) == 2

    def test_clean_removes_rounding_only(self):
        np.testing.assert_array_equal(clean(np.array([[1.0, 1e-15], [1e-9, -2e-16]]), 1e-12), [[1, 0], [1e-9, 0]])


class TestArguments:
    def test_messages(self):
        edges, x = path(4), np.ones((4, 2))
        with pytest.raises(InputError, match="paradigm must be one of 'I', 'II', 'III', '2d', 'rank', got 'IV'"):
            construct(edges, x, x, "I+IV")
        with pytest.raises(InputError, match="rank must be given with a term 'rank' and only with one, got rank=2 with 'II'"):
            construct(edges, x, x, "II", rank=2)
        with pytest.raises(InputError, match="rank must be given"):
            construct(edges, x, x, "rank")
        with pytest.raises(InputError, match="Z must have as many columns as F, 2, got 3"):
            construct(edges, x, np.ones((4, 3)), "I+II")
        with pytest.raises(InputError, match="Z must have as many rows as F, 4, got 5"):
            construct(edges, x, np.ones((5, 2)), "2d")
        with pytest.raises(InputError, match="F must be N x C finite numbers"):
            construct(edges, np.full((4, 2), np.nan), x)
        with pytest.raises(InputError, match="restarts must be an integer >= 1, got 0"):
            construct(edges, x, x, "II", restarts=0)
        with pytest.raises(InputError, match="F must have 4 rows, as the spectrum, got 3"):
            construct(spectrum_of_edges(edges, 4), np.ones((3, 2)), np.ones((3, 2)))
        with pytest.raises(InputError, match="a sum of names or a list of names"):
            construct(edges, x, x, [])

    @pytest.mark.parametrize("paradigm", ["I", "II", "III", "2d", "I+II+III", "II+II"])
    def test_nothing_from_nothing(self, paradigm):
        zero, z = np.zeros((5, 3)), np.random.default_rng(0).standard_normal((5, 3))
        lost = construct(path(5), zero, z, paradigm)
        assert lost.error == pytest.approx(np.linalg.norm(z))
        assert lost.optimal
        assert lost.fails
        assert construct(path(5), z, zero, paradigm).error == 0
        assert construct(path(5), zero, zero, paradigm).reached
        assert construct(path(5), z[:, :1], z[::-1, :1].copy(), paradigm).reached  # one channel: all paradigms are one

    def test_degree_curve_needs_a_signal_and_a_target(self):
        with pytest.raises(InputError, match="F and Z must not be zero"):
            degree_curve(path(5), np.ones((5, 2)), np.zeros((5, 2)))

    def test_graphs_in_every_form(self):
        edges = karate()
        operator = shifted_laplacian(adjacency(edges), dtype=torch.float64)
        rng = np.random.default_rng(0)
        x, z = rng.standard_normal((2, 34, 2))
        errors = [construct(graph, x, z, "I").error for graph in (edges, operator, Spectrum.of(operator))]
        assert errors[0] == pytest.approx(errors[1])
        assert errors[0] == pytest.approx(errors[2])


@pytest.fixture(scope="module")
def texas():
    """The spectrum and the features of Texas, straight from its file."""
    file = real_data_root() / "heterophilous" / "texas" / "raw" / "texas.npz"
    if not file.is_file():
        pytest.skip(f"no {file.name} below the data root")
    with np.load(file) as arrays:
        edges = torch.from_numpy(arrays["edges"].T.copy())
        features = arrays["node_features"].astype(np.float64)
    return spectrum_of_edges(edges, len(features)), features


class TestRealGraphs:
    """The paper's failure cases on Texas."""

    def test_features_are_not_frequency_trivial(self, texas):
        spectrum, features = texas
        rng = np.random.default_rng(0)
        x = features @ rng.standard_normal((features.shape[1], 5))
        z = rng.standard_normal((183, 5))
        assert construct(spectrum, x, z, "2d").error < 1e-10
        for paradigm in ("I", "II"):
            result = construct(spectrum, x, z, paradigm, restarts=4)
            assert result.fails
            assert result.error >= result.lower_bound > 0.05 * result.scale

    def test_rank_and_zeros(self, texas):
        spectrum, features = texas
        rng = np.random.default_rng(1)
        x = features @ rng.standard_normal((features.shape[1], 1)) @ rng.standard_normal((1, 5))
        z = rng.standard_normal((183, 5))
        for paradigm in ("I", "II", "II+II"):
            assert construct(spectrum, x, z, paradigm, restarts=4).fails
        f = sparse_rows(rng, 183, 5)
        for paradigm in ("I", "III"):
            result = construct(spectrum, signal(spectrum, f), z, paradigm)
            assert result.fails
            assert result.optimal
        for source in (x, signal(spectrum, f)):
            assert construct(spectrum, source, z, "2d").error < 1e-10

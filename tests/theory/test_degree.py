"""The degree limit."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chebnet2d.conv import SpectralConv
from chebnet2d.graph import adjacency, shifted_laplacian
from chebnet2d.theory import degree_curve
from chebnet2d.theory.example_graphs import complete, karate, path, random_graph, spectrum_of_edges, star
from exact_krylov import exact_errors
from theory_examples import SEEDS, random_tree


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

    @pytest.mark.parametrize("tree", [True, False], ids=["trees", "graphs"])
    def test_curve_in_90_digits(self, tree):
        """60 curves each. Trees have many repeated eigenvalues: rounding passes for new directions where it is not kept out."""
        for seed in range(60):
            rng = np.random.default_rng([seed, tree])
            nodes, channels = (int(rng.integers(6, 26)), int(rng.integers(1, 5))) if seed < 40 else (int(rng.integers(50, 60)), 1)
            edges = random_tree(nodes, rng) if tree else random_graph(nodes, 0.2, rng)
            x, z = rng.standard_normal((2, nodes, channels))
            curve = degree_curve(spectrum_of_edges(edges, nodes), x, z)
            errors, dimensions = exact_errors(edges, x, z, len(curve.errors) - 1)
            np.testing.assert_allclose(curve.errors, errors, atol=1e-9, rtol=0)
            assert curve.dimensions == dimensions

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

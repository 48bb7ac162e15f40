"""Wrong arguments of the theory, and every kind of graph."""

import numpy as np
import pytest
import torch

from chebnet2d import InputError
from chebnet2d.graph import Spectrum, adjacency, shifted_laplacian
from chebnet2d.theory import construct, degree_curve
from chebnet2d.theory.example_graphs import karate, path, spectrum_of_edges


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
        with pytest.raises(InputError, match="degree_curve: Z must have as many rows as F, 5, got 4"):
            degree_curve(path(5), np.ones((5, 2)), np.ones((4, 2)))

    def test_graphs_in_every_form(self):
        edges = karate()
        operator = shifted_laplacian(adjacency(edges), dtype=torch.float64)
        rng = np.random.default_rng(0)
        x, z = rng.standard_normal((2, 34, 2))
        errors = [construct(graph, x, z, "I").error for graph in (edges, operator, Spectrum.of(operator))]
        assert errors[0] == pytest.approx(errors[1])
        assert errors[0] == pytest.approx(errors[2])

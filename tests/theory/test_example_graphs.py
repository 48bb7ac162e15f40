"""Graphs of the theory."""

import numpy as np
import pytest
import torch

from chebnet2d.theory.example_graphs import component_sample, karate
from chebnet2d.theory.reduction import clean


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

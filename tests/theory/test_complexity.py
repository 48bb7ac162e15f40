"""The counters of parameters and operations."""

import torch

from chebnet2d.graph import adjacency, shifted_laplacian
from chebnet2d.theory import convolution_costs
from chebnet2d.theory.example_graphs import path


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

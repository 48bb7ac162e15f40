"""Distances from a node, as far as a polynomial reaches."""

import numpy as np

from chebnet2d.graph import SparseOperator


def distances(adjacency: SparseOperator, node: int, farthest: int | None = None) -> np.ndarray:
    """The number of edges from the node to each of the N nodes, at most ``farthest``; -1 for those that are not reached."""
    matrix = adjacency.to_scipy()
    found = np.full(matrix.shape[0], -1, dtype=np.int64)
    frontier, distance = np.array([node]), 0
    found[node] = 0
    while frontier.size and (farthest is None or distance < farthest):
        distance += 1
        neighbours = np.unique(matrix[frontier].indices)
        frontier = neighbours[found[neighbours] < 0]
        found[frontier] = distance
    return found

"""The graphs of the report: a small real one, families whose spectrum is known, and random ones."""

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer
from chebnet2d.graph import Spectrum, adjacency, shifted_laplacian

# Zachary's karate club (1977): who met whom outside the club. Node -> its neighbours with a larger number.
_KARATE = {
    0: (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31),
    1: (2, 3, 7, 13, 17, 19, 21, 30),
    2: (3, 7, 8, 9, 13, 27, 28, 32),
    3: (7, 12, 13),
    4: (6, 10),
    5: (6, 10, 16),
    6: (16,),
    8: (30, 32, 33),
    9: (33,),
    13: (33,),
    14: (32, 33),
    15: (32, 33),
    18: (32, 33),
    19: (33,),
    20: (32, 33),
    22: (32, 33),
    23: (25, 27, 29, 32, 33),
    24: (25, 27, 31),
    25: (31,),
    26: (29, 33),
    27: (33,),
    28: (31, 33),
    29: (32, 33),
    30: (32, 33),
    31: (32, 33),
    32: (33,),
}


def karate() -> Tensor:
    """34 nodes, 78 edges, each listed once: 2 x 78."""
    return torch.tensor([(a, b) for a, neighbours in _KARATE.items() for b in neighbours]).T.contiguous()


def path(nodes: int) -> Tensor:
    """N distinct eigenvalues."""
    integer("path", "nodes", nodes, 2)
    return torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])


def star(nodes: int) -> Tensor:
    """3 distinct eigenvalues: one of them N - 2 times."""
    integer("star", "nodes", nodes, 3)
    return torch.stack([torch.zeros(nodes - 1, dtype=torch.int64), torch.arange(1, nodes)])


def complete(nodes: int) -> Tensor:
    """2 distinct eigenvalues: one of them N - 1 times."""
    integer("complete", "nodes", nodes, 2)
    return torch.triu_indices(nodes, nodes, offset=1)


def random_graph(nodes: int, probability: float, rng: np.random.Generator) -> Tensor:
    """Every pair is an edge with that probability, and a path through all nodes keeps it connected."""
    low, high = np.triu_indices(nodes, 1)
    chosen = rng.random(low.size) < probability
    drawn = torch.from_numpy(np.stack([low[chosen], high[chosen]]))
    pairs = torch.cat([drawn, path(nodes)], dim=1)
    return torch.unique(pairs, dim=1)


def spectrum_of_edges(edges: Tensor, nodes: int) -> Spectrum:
    """The spectrum of L_hat of a list of edges."""
    return Spectrum.of(shifted_laplacian(adjacency(edges, num_nodes=nodes), dtype=torch.float64))


def component_sample(edges: Tensor, nodes: int) -> tuple[Tensor, int]:
    """At most ``nodes`` nodes of the largest component, in breadth-first order from its node of highest degree, renumbered.

    Returns the edges among them and their number.
    """
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    integer("component_sample", "nodes", nodes, 2)
    if edges.numel() == 0:
        raise InputError("component_sample", "edges", "empty", verb="not be")
    matrix = adjacency(edges).to_scipy()
    _, component = connected_components(matrix, directed=False)
    inside = component == np.bincount(component).argmax()
    degree = np.where(inside, np.diff(matrix.indptr), -1)
    order = breadth_first_order(matrix, int(degree.argmax()), directed=False, return_predecessors=False)[:nodes]
    sample = matrix[order][:, order].tocoo()
    return torch.from_numpy(np.stack([sample.row, sample.col]).astype(np.int64)), len(order)

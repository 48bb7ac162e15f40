"""The graphs of the report: a small real one, families whose spectrum is known, and random ones."""

from importlib.resources import files

import numpy as np
import torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d.graph import Spectrum, adjacency, shifted_laplacian


def karate() -> Tensor:
    """34 nodes, 78 edges, each listed once: 2 x 78."""
    text = files("chebnet2d.theory").joinpath("karate.txt").read_text(encoding="utf-8")
    return torch.from_numpy(np.loadtxt(text.splitlines(), dtype=np.int64).T.copy())


def path(nodes: int) -> Tensor:
    """N distinct eigenvalues."""
    return torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])


def star(nodes: int) -> Tensor:
    """3 distinct eigenvalues: one of them N - 2 times."""
    return torch.stack([torch.zeros(nodes - 1, dtype=torch.int64), torch.arange(1, nodes)])


def complete(nodes: int) -> Tensor:
    """2 distinct eigenvalues: one of them N - 1 times."""
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

    if edges.numel() == 0:
        raise InputError("component_sample", "edges", "empty", verb="not be")
    matrix = adjacency(edges).to_scipy()
    _, component = connected_components(matrix, directed=False)
    inside = component == np.bincount(component).argmax()
    degree = np.where(inside, np.diff(matrix.indptr), -1)
    order = breadth_first_order(matrix, int(degree.argmax()), directed=False, return_predecessors=False)[:nodes]
    sample = matrix[order][:, order].tocoo()
    return torch.from_numpy(np.stack([sample.row, sample.col]).astype(np.int64)), len(order)

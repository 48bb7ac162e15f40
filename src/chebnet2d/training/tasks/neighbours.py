"""Nodes around some nodes: up to a number of neighbours of each, hop by hop. What GraphSAGE and NeighborLoader call fan-out."""

from typing import Any

import numpy as np
import torch
from torch import nn

HOPS = 2  # of a model that does not say how many layers it has


def hops_of(model: nn.Module) -> int:
    """As many as it has layers: farther nodes do not count in its answers, but for the degrees that its operator may hold."""
    return int(getattr(model, "config", {}).get("num_layers", HOPS))


def compiled_sampler() -> str | None:
    """The package by which torch_geometric samples neighbours, None where there is none."""
    from torch_geometric import typing  # which has tried to import them: one of another version of torch does not count

    return "pyg-lib" if typing.WITH_PYG_LIB else "torch-sparse" if typing.WITH_TORCH_SPARSE else None


def how_neighbours_are_drawn() -> str:
    found = compiled_sampler()
    if found is not None:
        return f"neighbours come on top, drawn by torch_geometric's NeighborLoader ({found})"
    return "neighbours come on top, drawn by numpy, since neither pyg-lib nor torch-sparse is installed"


class Neighbours:
    """``matrix``: N x N in CSR, scipy's. ``most``: neighbours that are drawn of a node at a hop, without replacement."""

    def __init__(self, matrix: Any, most: int, hops: int) -> None:
        self.matrix, self.most, self.hops = matrix, most, hops
        self._loader = _neighbor_loader(matrix, most, hops) if compiled_sampler() is not None else None

    def around(self, nodes: Any, key: list[int]) -> Any:
        """The nodes and those drawn, in ascending order. ``key``: numbers that decide the draws."""
        rng = np.random.default_rng(key)
        if self._loader is not None:
            with torch.random.fork_rng(devices=[]):  # it has no seed of its own
                torch.manual_seed(int(rng.integers(2**63)))
                return np.unique(self._loader(torch.from_numpy(nodes)).n_id.numpy())
        seen = np.zeros(self.matrix.shape[0], dtype=bool)
        seen[nodes] = True
        frontier = nodes
        for _ in range(self.hops):
            drawn = np.unique(self._drawn(frontier, rng))
            frontier = drawn[~seen[drawn]]
            seen[frontier] = True
        return np.flatnonzero(seen)

    def _drawn(self, nodes: Any, rng: np.random.Generator) -> Any:
        """Of each row those entries that have the smallest of random numbers."""
        rows = self.matrix[nodes]
        own = np.repeat(np.arange(nodes.size), np.diff(rows.indptr))
        order = np.lexsort((rng.random(own.size), own))
        rank = np.arange(own.size) - rows.indptr[own]
        return rows.indices[order[rank < self.most]]


def _neighbor_loader(matrix: Any, most: int, hops: int) -> Any:
    """It is called with nodes, batch by batch: seed and epoch decide which, as without it."""
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    ends = np.stack([np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices]).astype(np.int64)
    graph = Data(edge_index=torch.from_numpy(ends), num_nodes=matrix.shape[0])
    return NeighborLoader(graph, num_neighbors=[most] * hops, input_nodes=None, batch_size=1)

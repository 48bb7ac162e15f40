"""Stability: the convolution moves at most sum_d d^2 |W_d| times as far as the Laplacian."""

from collections.abc import Iterator

import numpy as np
import torch

from chebnet2d.graph import adjacency, shifted_laplacian
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.example_graphs import random_graph
from chebnet2d.theory.reduction import Array
from chebnet2d.theory.stability import stability_constant

CHANNELS, DEGREES = 2, (2, 3, 5, 10)


def chebyshev_matrices(matrix: Array, degree: int) -> Array:
    """T_0, ..., T_D of a matrix."""
    terms = [np.eye(len(matrix)), matrix]
    for _ in range(degree - 1):
        terms.append(2 * matrix @ terms[-1] - terms[-2])
    return np.stack(terms[: degree + 1])


def moved(before: Array, after: Array, maps: Array) -> float:
    """|Phi(L) - Phi(L')| / |L - L'|, spectral norms, of F -> sum_d T_d(L_hat) F W_d."""
    degree = len(maps) - 1
    difference = chebyshev_matrices(before, degree) - chebyshev_matrices(after, degree)
    operator = sum(np.kron(left, right.T) for left, right in zip(difference, maps, strict=True))
    return float(np.linalg.norm(operator, ord=2) / np.linalg.norm(before - after, ord=2))


def weighted_path(weight: float) -> Array:
    """L_hat of two pairs of nodes, joined by an edge of that weight."""
    weights = np.zeros((4, 4))
    for a, b, w in ((0, 1, 1.0), (1, 2, weight), (2, 3, 1.0)):
        weights[a, b] = weights[b, a] = w
    degree = weights.sum(axis=1)
    return -weights / np.sqrt(np.outer(degree, degree))


def one_edge_less(nodes: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """L_hat of a random graph, with and without one of the edges that are not on its path."""
    edges = random_graph(nodes, 0.3, rng)
    spare = np.flatnonzero((edges[1] - edges[0]).numpy() != 1)
    kept = np.delete(np.arange(edges.shape[1]), rng.choice(spare))
    pair = (edges, edges[:, torch.from_numpy(kept)])
    before, after = (shifted_laplacian(adjacency(e, num_nodes=nodes), dtype=torch.float64).to_dense().numpy() for e in pair)
    return before, after


def claims(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("stability")
    ratios = []
    for degree in DEGREES:
        for _ in range(5):
            before, after = one_edge_less(14, rng)
            maps = rng.standard_normal((degree + 1, CHANNELS, CHANNELS))
            ratios.append(moved(before, after, maps) / stability_constant(maps))
    yield line("stability-bound", max(ratios), typical=float(np.median(ratios)))
    tight = []
    for degree in DEGREES:
        maps = np.zeros((degree + 1, 1, 1))
        maps[degree] = 1.0
        tight.append(moved(weighted_path(1e-6), weighted_path(2e-6), maps) / stability_constant(maps))
    yield line("stability-tight", min(tight))
    alternating = (-1.0) ** np.arange(11)[:, None, None] * np.eye(CHANNELS)
    yield line(
        "stability-tight-sum", moved(weighted_path(1e-6), weighted_path(2e-6), alternating) / stability_constant(alternating)
    )

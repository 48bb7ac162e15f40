"""The graphs on which claims are tested: a real one and some random ones, with signals given by their spectrum."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from chebnet2d.graph import Spectrum
from chebnet2d.theory.construction import Construction, construct
from chebnet2d.theory.example_graphs import karate, random_graph, spectrum_of_edges
from chebnet2d.theory.reduction import Array
from chebnet2d.theory.sharing import construct_shared

Draw = Callable[[np.random.Generator, int, int], Array]


def normal(rng: np.random.Generator, rows: int, columns: int) -> Array:
    """Standard normal, with no entry near 0, so that "no zero entry" holds by a margin."""
    draws = rng.standard_normal((rows, columns))
    return np.where(np.abs(draws) < 0.05, 0.05, draws)


def rank_one(rng: np.random.Generator, rows: int, columns: int) -> Array:
    """Rank 1, and no zero entry."""
    return normal(rng, rows, 1) @ normal(rng, 1, columns)


def with_zeros(rng: np.random.Generator, rows: int, columns: int) -> Array:
    """``normal`` with about 40 % zero entries, at least one of them, and no zero row; two columns or more."""
    f = normal(rng, rows, columns)
    absent = rng.random(f.shape) < 0.4
    absent[0, 0] = True
    absent[np.arange(rows), rng.integers(1, columns, rows)] = False
    return np.where(absent, 0.0, f)


@dataclass(frozen=True)
class Case:
    """F^ and Z^ on a graph."""

    spectrum: Spectrum
    f: Array
    z: Array

    @classmethod
    def drawn(cls, graph: Spectrum, rng: np.random.Generator, channels: int, draw: Draw = normal) -> "Case":
        """F^ by ``draw``, then Z^ by ``normal``."""
        return cls(graph, draw(rng, graph.num_nodes, channels), normal(rng, graph.num_nodes, channels))

    @property
    def F(self) -> Tensor:
        return self.spectrum.inverse(torch.from_numpy(self.f))

    @property
    def Z(self) -> Tensor:
        return self.spectrum.inverse(torch.from_numpy(self.z))

    def construct(self, paradigm: str | Sequence[str], **options: Any) -> Construction:
        return construct(self.spectrum, self.F, self.Z, paradigm, **options)

    def construct_shared(self, labels: Any, **options: Any) -> Construction:
        return construct_shared(self.spectrum, self.F, self.Z, labels, **options)


class Bench:
    """``real``: the karate club. ``graphs``: it, and four random graphs of 12 to 24 nodes."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.real_edges = karate()
        self.real = spectrum_of_edges(self.real_edges, 34)
        rng = self.rng("graphs")
        self.graphs = (self.real, *(spectrum_of_edges(random_graph(size, 0.2, rng), size) for size in (12, 16, 20, 24)))

    def rng(self, name: str) -> np.random.Generator:
        """A separate stream of random numbers per claim, so that a result does not depend on which claims ran before."""
        return np.random.default_rng([self.seed, *name.encode()])

    def cases(self, rng: np.random.Generator, channels: int, draw: Draw = normal) -> Iterator[Case]:
        """A case per graph, drawn when it is asked for."""
        return (Case.drawn(graph, rng, channels, draw) for graph in self.graphs)


def relative_bound(results: Sequence[Construction]) -> float:
    """The smallest certified lower bound, relative to ||Z||."""
    return min(result.lower_bound / result.scale for result in results)


def worst_error(results: Sequence[Construction]) -> float:
    return max(result.error for result in results)


def worst_gap(results: Sequence[Construction]) -> float:
    """The largest distance from optimal, relative to ||Z||."""
    return max((result.error - result.lower_bound) / result.scale for result in results)


def randomise(layer: nn.Module, rng: np.random.Generator) -> None:
    for parameter in layer.parameters():
        parameter.data.copy_(torch.from_numpy(rng.standard_normal(tuple(parameter.shape))))


def distance(output: Tensor, truth: Tensor) -> float:
    """The largest difference, relative."""
    return float((output - truth).abs().max() / truth.abs().max())

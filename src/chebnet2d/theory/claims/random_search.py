"""How reliable the search of ``construct`` is: tried on targets that are reachable, as they are outputs of the paradigm."""

from collections.abc import Iterator

import numpy as np

from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench, Case, normal, with_zeros
from chebnet2d.theory.example_graphs import random_graph, spectrum_of_edges

SUMS = ("II", "I+II", "II+III", "I+II+III", "II+II", "I+II+II", "II+II+III")


def reachable(rng: np.random.Generator, paradigm: str) -> Case:
    """A graph of 8 to 12 nodes, 2 or 3 channels, random parameters for every term, and the output as the target."""
    nodes, channels = int(rng.integers(8, 13)), int(rng.integers(2, 4))
    f = with_zeros(rng, nodes, channels) if "III" in paradigm else normal(rng, nodes, channels)
    maps = np.zeros((nodes, channels, channels))
    for term in paradigm.split("+"):
        if term == "II":
            maps += rng.standard_normal((nodes, 1, 1)) * rng.standard_normal((channels, channels))
        else:
            maps += rng.standard_normal((nodes, channels if term == "III" else 1))[:, :, None] * np.eye(channels)
    graph = spectrum_of_edges(random_graph(nodes, 0.3, rng), nodes)
    return Case(graph, f, np.einsum("nc,ncj->nj", f, maps))


def claims(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("search")
    reached = alarms = 0
    for i in range(100):
        paradigm = SUMS[i % len(SUMS)]
        result = reachable(rng, paradigm).construct(paradigm, seed=i)
        reached += result.error < 1e-8
        alarms += result.fails
    yield line("search-reaches", reached)
    yield line("search-alarms", alarms)

"""How reliable the search of ``construct`` is: tried on targets that are reachable, as they are outputs of the paradigm."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from chebnet2d.theory.claim import Claim
from chebnet2d.theory.claims.bench import Bench, Case, normal, with_zeros
from chebnet2d.theory.example_graphs import random_graph, spectrum_of_edges

SECTION = "search"
_added = partial(Claim, section=SECTION, paper="silent", verdict="added")
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


def claims(bench: Bench, count: int = 100) -> Iterator[Claim]:
    rng = bench.rng("search")
    reached = alarms = 0
    for i in range(count):
        paradigm = SUMS[i % len(SUMS)]
        result = reachable(rng, paradigm).construct(paradigm, seed=i)
        reached += result.error < 1e-8
        alarms += result.fails
    yield _added(
        key="search-reaches",
        claim="the search reaches targets that are reachable",
        quantity=f"of {count} random reachable targets, reached with an error below 1e-8",
        measured=float(reached),
        relation=">=",
        bound=0.99 * count,
    )
    yield _added(
        key="search-alarms",
        claim="no lower bound declares a reachable target out of reach",
        quantity=f"false certificates among the {count}",
        measured=float(alarms),
        relation="==",
        bound=0.0,
    )

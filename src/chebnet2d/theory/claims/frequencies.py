"""Wang & Zhang 2022 ask for no repeated eigenvalue and no missing frequency: the case C = 1 of the degree limit."""

from collections.abc import Iterator

import numpy as np
import torch

from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.degree import degree_curve
from chebnet2d.theory.example_graphs import random_graph, spectrum_of_edges, star


def claims(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("frequencies")
    wrong, met = 0, 0
    for i in range(60):
        nodes = int(rng.integers(5, 14))
        edges = random_graph(nodes, 0.3, rng) if i % 2 else _tree(nodes, rng)
        spectrum = spectrum_of_edges(edges, nodes)
        f = rng.standard_normal((nodes, 1))
        if rng.random() < 0.3:
            f[rng.integers(nodes)] = 0.0
        conditions = bool((np.diff(spectrum.eigenvalues.numpy()) > 1e-9).all()) and bool(f.all())
        curve = degree_curve(spectrum, spectrum.inverse(torch.from_numpy(f)), rng.standard_normal((nodes, 1)), largest=nodes - 1)
        wrong += conditions != (curve.reachable == nodes) or conditions != bool(curve.errors[-1] < 1e-7)
        met += conditions
    yield line("frequencies-C1", wrong, met=met)
    nodes, channels = 6, 4
    spectrum = spectrum_of_edges(star(nodes), nodes)
    x, z = rng.standard_normal((2, nodes, channels))
    many, alone = degree_curve(spectrum, x, z), degree_curve(spectrum, x @ rng.standard_normal((channels, 1)), z[:, :1])
    yield line("frequencies-C", many.errors[-1], alone=alone.floor)


def _tree(nodes: int, rng: np.random.Generator) -> torch.Tensor:
    """Every node joined to an earlier one: repeated eigenvalues are common."""
    return torch.tensor([[int(rng.integers(0, i)) for i in range(1, nodes)], list(range(1, nodes))])

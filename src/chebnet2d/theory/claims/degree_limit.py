"""The degree limit, which the paper leaves out: a polynomial of degree D cannot take arbitrary values at the eigenvalues."""

from collections.abc import Iterator, Mapping

import numpy as np
from torch import Tensor

from chebnet2d.graph import Spectrum
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.degree import DegreeCurve, degree_curve
from chebnet2d.theory.example_graphs import complete, component_sample, path, spectrum_of_edges, star

CHANNELS = 4
NODES = 60
SAMPLE = 300


def curves(bench: Bench, large: Mapping[str, Tensor]) -> dict[str, DegreeCurve]:
    """Random F and Z with C = 4 on each graph. ``large``: name -> edges of graphs that are too large to decompose."""
    families = {"path": path, "star": star, "complete graph": complete}
    graphs = {name: spectrum_of_edges(family(NODES), NODES) for name, family in families.items()}
    graphs["karate club"] = bench.real
    for name, edges in large.items():
        graphs[f"{name} sample"] = spectrum_of_edges(*component_sample(edges, SAMPLE))
    return {name: _random_curve(bench, name, spectrum, CHANNELS) for name, spectrum in graphs.items()}


def _random_curve(bench: Bench, name: str, spectrum: Spectrum, channels: int) -> DegreeCurve:
    return degree_curve(spectrum, *bench.rng(f"degree {name}").standard_normal((2, spectrum.num_nodes, channels)))


def claims(bench: Bench, found: Mapping[str, DegreeCurve]) -> Iterator[Claim]:
    for name, curve in found.items():
        needed = curve.degree_needed
        yield line("degree-{name}-floor", abs(curve.errors[needed] - curve.floor), name=name, curve=curve)
        inside = max(0.0, curve.errors[needed - 1] ** 2 - curve.floor**2) ** 0.5  # of the part of Z that can be reached at all
        yield line("degree-{name}-before", inside, name=name, degree=needed - 1)
    floors = [curve.floor for curve in found.values() if curve.largest_multiplicity > CHANNELS]
    yield line("degree-repeated", min(floors), count=len(floors))
    shared, alone = NODES // CHANNELS - 1, NODES - 1
    yield line("degree-path-2d", found["path"].errors[shared], degree=shared)
    # Eight targets at once: the last direction of a single random one can happen to be almost nothing.
    draws = bench.rng("degree III").standard_normal((NODES, 9))
    errors = degree_curve(path(NODES), draws[:, :1], draws[:, 1:]).errors
    measured = errors[alone - 1] if errors[alone] < 1e-9 else np.nan
    yield line("degree-path-III", measured, degree=alone, less=alone - 1, error=errors[alone])

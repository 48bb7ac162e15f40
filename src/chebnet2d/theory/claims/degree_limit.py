"""The degree limit, which the paper leaves out: a polynomial of degree D cannot take arbitrary values at the eigenvalues."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from torch import Tensor

from chebnet2d.graph import Spectrum
from chebnet2d.theory.claim import Claim
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.degree import DegreeCurve, degree_curve
from chebnet2d.theory.example_graphs import complete, component_sample, path, spectrum_of_edges, star

SECTION = "degree"
_claim = partial(Claim, section=SECTION)
_added = partial(Claim, section=SECTION, paper="silent", verdict="added")
CHANNELS = 4
NODES = 60
SAMPLE = 300


def curves(bench: Bench, large: Mapping[str, Tensor]) -> dict[str, DegreeCurve]:
    """Random F and Z with C = 4 on each graph. ``large``: name -> edges of graphs that are too large to decompose."""
    graphs: dict[str, Spectrum] = {
        "path": spectrum_of_edges(path(NODES), NODES),
        "star": spectrum_of_edges(star(NODES), NODES),
        "complete graph": spectrum_of_edges(complete(NODES), NODES),
        "karate club": bench.real,
    }
    for name, edges in large.items():
        graphs[f"{name} sample"] = spectrum_of_edges(*component_sample(edges, SAMPLE))
    result = {}
    for name, spectrum in graphs.items():
        rng = bench.rng(f"degree {name}")
        f, z = rng.standard_normal((2, spectrum.num_nodes, CHANNELS))
        result[name] = degree_curve(spectrum, f, z)
    return result


def claims(bench: Bench, found: Mapping[str, DegreeCurve]) -> Iterator[Claim]:
    for name, curve in found.items():
        needed = curve.degree_needed
        facts = (
            f"{curve.nodes} nodes, {curve.distinct} distinct eigenvalues, the most frequent {curve.largest_multiplicity} times"
        )
        yield _claim(
            key=f"degree-{name}-floor",
            claim=f"{name} ({facts}): from D = {needed} = ceil({curve.reachable}/{CHANNELS}) - 1 on the error stays at "
            f"{curve.floor:.4f} ||Z||",
            paper="silent: Theorem 3 is about free filter values",
            verdict="added",
            quantity="|error - floor| / ||Z|| at that degree",
            measured=float(abs(curve.errors[needed] - curve.floor)),
            relation="<",
            bound=1e-9,
        )
        yield _added(
            key=f"degree-{name}-before",
            claim=f"{name}: one degree less is not enough",
            quantity=f"(error - floor) / ||Z|| at D = {needed - 1}",
            measured=float(curve.errors[needed - 1] - curve.floor),
            relation=">",
            bound=1e-4,
        )
    repeated = [curve for curve in found.values() if curve.largest_multiplicity > CHANNELS]
    yield _added(
        key="degree-repeated",
        claim="where an eigenvalue is repeated more than C times no degree reaches every target",
        quantity=f"smallest floor / ||Z|| of the {len(repeated)} such graphs",
        measured=min(curve.floor for curve in repeated),
        relation=">",
        bound=0.1,
    )
    yield _added(
        key="degree-path-2d",
        claim=f"with N distinct eigenvalues D = N/C - 1 = {NODES // CHANNELS - 1} reaches every target: C channels share it",
        quantity="error / ||Z|| on the path",
        measured=float(found["path"].errors[NODES // CHANNELS - 1]),
        relation="<",
        bound=1e-9,
    )
    rng = bench.rng("degree III")
    f, z = rng.standard_normal((2, NODES, 1))
    single = degree_curve(spectrum_of_edges(path(NODES), NODES), f, z)
    yield _added(
        key="degree-path-III",
        claim=f"a filter of one channel (Paradigms I and III) needs D = N - 1 = {NODES - 1} there",
        quantity=f"error / ||Z|| at D = {NODES - 2} (at {NODES - 1}: {single.errors[NODES - 1]:.0e})",
        measured=float(single.errors[NODES - 2]) if single.errors[NODES - 1] < 1e-9 else float(np.nan),
        relation=">",
        bound=1e-4,
    )

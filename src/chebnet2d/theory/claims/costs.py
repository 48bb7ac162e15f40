"""Section 4.2: complexity."""

from collections.abc import Iterator
from functools import partial

import torch

from chebnet2d.graph import adjacency, shifted_laplacian
from chebnet2d.models import ChebNet2D
from chebnet2d.theory.claim import Claim
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.complexity import convolution_costs, count

SECTION = "complexity"
_claim = partial(Claim, section=SECTION)
# Sixteen channels, because with fewer the kernels add columns of zeros, whose multiplications are counted too.
CHANNELS, DEGREE, FEATURES, HIDDEN = 16, 10, 50, 24
CORA = {"nodes": 2708, "nnz": 10556, "features": 1433, "hidden": 64, "channels": 7, "degree": 10}


def _paper(paradigm: str, dense: int) -> str:
    if paradigm == "rank":
        return "silent"
    text = f"section 4.2: O(D N^2 C) = {dense} with the graph, as if it were dense"
    return f"{text}; O((D+1) N C^2) and (D+1) C^2" if paradigm == "2d" else text


def claims(bench: Bench) -> Iterator[Claim]:
    operator = shifted_laplacian(adjacency(bench.real_edges), dtype=torch.float64)
    nodes = operator.shape[0]
    for cost in convolution_costs(operator, CHANNELS, DEGREE):
        counted = cost.counted
        over_nodes, parameters = cost.formula.split(", ")
        yield _claim(
            key=f"complexity-{cost.paradigm}",
            claim=f"{cost.paradigm}: D nnz C = {counted.graph} multiplications with the graph, {over_nodes} = {counted.nodes} "
            f"over the nodes, {counted.maps} on parameters alone; {parameters} = {counted.parameters} parameters",
            paper=_paper(cost.paradigm, DEGREE * nodes * nodes * CHANNELS),
            verdict="added" if cost.paradigm == "rank" else "holds",
            quantity="difference of the counts from the formulas, karate club, C = 16, D = 10",
            measured=float(cost.difference),
            relation="==",
            bound=0.0,
        )
    model = ChebNet2D(FEATURES, CHANNELS, HIDDEN, DEGREE).double()
    counted = count(model, torch.zeros(nodes, FEATURES, dtype=torch.float64), operator)
    layers = nodes * HIDDEN * (FEATURES + CHANNELS)
    maps = (DEGREE + 1) * nodes * CHANNELS**2
    numbers = HIDDEN * (FEATURES + CHANNELS) + HIDDEN + CHANNELS + (DEGREE + 1) * CHANNELS**2
    yield _claim(
        key="complexity-chebnet2d",
        claim=f"ChebNet2D: N H (F+C) + D nnz C + (D+1) N C^2 = {counted.graph + counted.nodes} multiplications, "
        f"H (F+C) + (D+1) C^2 and H + C biases = {counted.parameters} parameters",
        paper="section 4.2: O of the same, with N^2 for nnz",
        verdict="holds",
        quantity="difference of the counts from the formulas",
        measured=float(
            abs(counted.graph + counted.nodes - layers - maps - DEGREE * operator.nnz * CHANNELS)
            + abs(counted.parameters - numbers)
        ),
        relation="==",
        bound=0.0,
    )
    terms, c = CORA["degree"] + 1, CORA["channels"]
    extra = terms * CORA["nodes"] * c * c
    graph = CORA["degree"] * CORA["nnz"] * c
    base = CORA["nodes"] * CORA["hidden"] * (CORA["features"] + c) + graph
    yield _claim(
        key="complexity-extra",
        claim="the maps of the 2-D convolution add little to the whole of ChebNet2D at Cora's size, with dense features",
        paper="section 4.2: the increase is trivial against the major terms",
        verdict="holds",
        quantity="(D+1) N C^2 / (N H (F+C) + D nnz C), H = 64, D = 10",
        measured=extra / base,
        relation="<",
        bound=0.01,
    )
    yield _claim(
        key="complexity-extra-graph",
        claim="but not to the convolution itself, as products with a sparse graph cost D nnz C and not D N^2 C",
        paper="section 4.2: compares with D N^2 C",
        verdict="corrected",
        quantity="(D+1) N C^2 / (D nnz C) at Cora's size",
        measured=extra / graph,
        relation=">",
        bound=1.0,
    )

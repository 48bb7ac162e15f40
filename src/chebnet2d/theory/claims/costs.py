"""Section 4.2: complexity."""

from collections.abc import Iterator

import torch

from chebnet2d.graph import adjacency, shifted_laplacian
from chebnet2d.models import ChebNet2D
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.complexity import convolution_costs, count

# Sixteen channels, because with fewer the kernels add columns of zeros, whose multiplications are counted too.
CHANNELS, DEGREE, FEATURES, HIDDEN = 16, 10, 50, 24
CORA = {"nodes": 2708, "nnz": 10556, "features": 1433, "words": 49216, "hidden": 64, "channels": 7, "degree": 10}


def claims(bench: Bench) -> Iterator[Claim]:
    operator = shifted_laplacian(adjacency(bench.real_edges), dtype=torch.float64)
    nodes = operator.shape[0]
    for cost in convolution_costs(operator, CHANNELS, DEGREE):
        over_nodes, parameters = cost.formula.split(", ")
        yield line(
            "section4.2-rank" if cost.paradigm == "rank" else "section4.2-{paradigm}",
            cost.difference,
            paradigm=cost.paradigm,
            counted=cost.counted,
            over_nodes=over_nodes,
            parameters=parameters,
            dense=DEGREE * nodes * nodes * CHANNELS,
            maps="; O((D+1) N C^2) and (D+1) C^2" if cost.paradigm == "2d" else "",
        )
    model = ChebNet2D(FEATURES, CHANNELS, HIDDEN, degree=DEGREE).double()
    counted = count(model, torch.zeros(nodes, FEATURES, dtype=torch.float64), operator)
    done, maps = counted.graph + counted.nodes, (DEGREE + 1) * CHANNELS**2
    layers = HIDDEN * (FEATURES + CHANNELS)
    expected = nodes * (layers + maps) + DEGREE * operator.nnz * CHANNELS
    difference = abs(done - expected) + abs(counted.parameters - (layers + HIDDEN + CHANNELS + maps))
    yield line("section4.2-chebnet2d", difference, multiplications=done, parameters=counted.parameters)
    c = CORA["channels"]
    extra = (CORA["degree"] + 1) * CORA["nodes"] * c * c
    graph = CORA["degree"] * CORA["nnz"] * c
    last = CORA["nodes"] * CORA["hidden"] * c + graph
    yield line("section4.2-extra", extra / (CORA["nodes"] * CORA["features"] * CORA["hidden"] + last))
    yield line("section4.2-extra-sparse", extra / (CORA["words"] * CORA["hidden"] + last))
    yield line("section4.2-extra-graph", extra / graph)

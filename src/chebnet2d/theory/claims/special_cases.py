"""Proposition 3.4: I, II and III are special cases of the 2-D convolution."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from chebnet2d.conv import ExactConv, Full2D, SpectralConv
from chebnet2d.graph import SparseOperator, adjacency, shifted_laplacian
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench, distance, randomise
from chebnet2d.theory.claims.definitions import block_matrix

CHANNELS, DEGREE = 3, 6
PAIRS = CHANNELS * CHANNELS


@torch.no_grad()
def claims(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("special")
    x = torch.from_numpy(rng.standard_normal((34, CHANNELS)))
    operator = shifted_laplacian(adjacency(bench.real_edges), dtype=torch.float64)
    nodes = bench.real.num_nodes
    formulas = {"I": ("N", nodes), "II": ("N + C^2", nodes + PAIRS), "III": ("N C", nodes * CHANNELS)}
    for name, (formula, expected) in formulas.items():
        yield line("proposition3.4-{paradigm}", _difference(bench, name, x, operator, rng), paradigm=name)
        difference = abs(_numbers(bench, name) - expected) + abs(_numbers(bench, "2d") - nodes * PAIRS)
        facts = {"paradigm": name, "formula": formula, "expected": expected, "full": nodes * PAIRS}
        yield line("proposition3.4-{paradigm}-numbers", difference, **facts)
    yield _low_rank(bench, rng)
    yield _index(bench, x, rng)


def _exact(bench: Bench, paradigm: str) -> ExactConv:
    return ExactConv(CHANNELS, CHANNELS, bench.real, paradigm=paradigm)


def _numbers(bench: Bench, paradigm: str) -> int:
    return sum(parameter.numel() for parameter in _exact(bench, paradigm).parameters())


def _difference(bench: Bench, name: str, x: Tensor, operator: SparseOperator, rng: np.random.Generator) -> float:
    """The paradigm's own code against the 2-D convolution that is given its maps."""
    special, full = _exact(bench, name), _exact(bench, "2d")
    randomise(special, rng)
    full.paradigm.theta.copy_(special.paradigm.maps())
    exact = distance(special(x), full(x))
    fast, fast_full = (SpectralConv(CHANNELS, CHANNELS, DEGREE, paradigm=paradigm).double() for paradigm in (name, "2d"))
    randomise(fast, rng)
    fast_full.paradigm.theta.copy_(fast.paradigm.maps())
    return max(exact, distance(fast(x, operator), fast_full(x, operator)))


def _low_rank(bench: Bench, rng: np.random.Generator) -> Claim:
    """K maps of C x C' span at most min(K, C C') dimensions, so that many filters, each with its map, are every 2-D map."""
    nodes = bench.real.num_nodes
    full = Full2D(CHANNELS, CHANNELS, nodes).double()
    randomise(full, rng)
    layer = ExactConv(CHANNELS, CHANNELS, bench.real, paradigm="rank", rank=min(nodes, PAIRS))
    left, sizes, right = torch.linalg.svd(full.maps().reshape(nodes, PAIRS), full_matrices=False)
    layer.paradigm.load_state_dict({"filters": left * sizes, "weight": right.reshape(-1, CHANNELS, CHANNELS)})
    return line("rank-full", float((layer.paradigm.maps() - full.maps()).abs().max()), rank=min(nodes, PAIRS))


def _index(bench: Bench, x: Tensor, rng: np.random.Generator) -> Claim:
    second = _exact(bench, "II")
    randomise(second, rng)
    wanted, maps = second(x), second.paradigm.maps()
    printed = distance(block_matrix(bench.real.eigenvectors, maps.transpose(1, 2), x), wanted)
    return line("proposition3.4-II-index", distance(block_matrix(bench.real.eigenvectors, maps, x), wanted), printed=printed)

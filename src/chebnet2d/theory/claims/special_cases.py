"""Proposition 1 (I, II and III are special cases of 2-D), Definition 1, and the interpolation of section 4.1."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from chebnet2d.conv import ChebConv2D, ExactConv, Full2D, SpectralConv
from chebnet2d.graph import SparseOperator, adjacency, shifted_laplacian
from chebnet2d.polynomials import chebyshev_nodes
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench

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
        yield line("proposition1-{paradigm}", _difference(bench, name, x, operator, rng), paradigm=name)
        difference = abs(_numbers(bench, name) - expected) + abs(_numbers(bench, "2d") - nodes * PAIRS)
        facts = {"paradigm": name, "formula": formula, "expected": expected, "full": nodes * PAIRS}
        yield line("proposition1-{paradigm}-numbers", difference, **facts)
    yield _low_rank(bench, rng)
    yield from _definition(bench, x, rng)
    yield from _interpolation(rng)


def _exact(bench: Bench, paradigm: str) -> ExactConv:
    return ExactConv(CHANNELS, CHANNELS, bench.real, paradigm=paradigm)


def _numbers(bench: Bench, paradigm: str) -> int:
    return sum(parameter.numel() for parameter in _exact(bench, paradigm).parameters())


def _randomise(layer: nn.Module, rng: np.random.Generator) -> None:
    for parameter in layer.parameters():
        parameter.copy_(torch.from_numpy(rng.standard_normal(tuple(parameter.shape))))


def _distance(output: Tensor, truth: Tensor) -> float:
    """The largest difference, relative."""
    return float((output - truth).abs().max() / truth.abs().max())


def _difference(bench: Bench, name: str, x: Tensor, operator: SparseOperator, rng: np.random.Generator) -> float:
    """The paradigm's own code against the 2-D convolution that is given its maps."""
    special, full = _exact(bench, name), _exact(bench, "2d")
    _randomise(special, rng)
    full.paradigm.theta.copy_(special.paradigm.maps())
    exact = _distance(special(x), full(x))
    fast, fast_full = (SpectralConv(CHANNELS, CHANNELS, DEGREE, paradigm=paradigm).double() for paradigm in (name, "2d"))
    _randomise(fast, rng)
    fast_full.paradigm.theta.copy_(fast.paradigm.maps())
    return max(exact, _distance(fast(x, operator), fast_full(x, operator)))


def _low_rank(bench: Bench, rng: np.random.Generator) -> Claim:
    """K maps of C x C' span at most min(K, C C') dimensions, so that many filters, each with its map, are every 2-D map."""
    nodes = bench.real.num_nodes
    full = Full2D(CHANNELS, CHANNELS, nodes).double()
    _randomise(full, rng)
    layer = ExactConv(CHANNELS, CHANNELS, bench.real, paradigm="rank", rank=min(nodes, PAIRS))
    left, sizes, right = torch.linalg.svd(full.maps().reshape(nodes, PAIRS), full_matrices=False)
    layer.paradigm.load_state_dict({"filters": left * sizes, "weight": right.reshape(-1, CHANNELS, CHANNELS)})
    return line("rank-full", float((layer.paradigm.maps() - full.maps()).abs().max()), rank=min(nodes, PAIRS))


def _definition(bench: Bench, x: Tensor, rng: np.random.Generator) -> Iterator[Claim]:
    """Definition 1 as the NC x NC matrix that it prints: block (row j, column c) is the operator from channel c to channel j."""
    u = bench.real.eigenvectors

    def apply(values: Tensor) -> Tensor:
        rows = [torch.cat([u @ torch.diag(values[:, c, j]) @ u.T for c in range(CHANNELS)], dim=1) for j in range(CHANNELS)]
        return (torch.cat(rows) @ x.T.reshape(-1)).reshape(CHANNELS, -1).T

    full, second = _exact(bench, "2d"), _exact(bench, "II")
    _randomise(full, rng)
    _randomise(second, rng)
    yield line("definition1", _distance(apply(full.paradigm.maps()), full(x)))
    wanted, maps = second(x), second.paradigm.maps()
    printed = _distance(apply(maps.transpose(1, 2)), wanted)
    yield line("proposition1-II-index", _distance(apply(maps), wanted), printed=printed)


def _interpolation(rng: np.random.Generator) -> Iterator[Claim]:
    nodes = chebyshev_nodes(DEGREE)
    theta = torch.from_numpy(rng.standard_normal((DEGREE + 1, CHANNELS, CHANNELS)))
    for scaling, key in (("paper", "interpolation-printed"), ("interpolation", "interpolation-corrected")):
        layer = ChebConv2D(CHANNELS, CHANNELS, DEGREE, scaling=scaling).double()
        layer.paradigm.load_state_dict({"theta": theta})
        yield line(key, float((layer.response(nodes) - theta).abs().max()))

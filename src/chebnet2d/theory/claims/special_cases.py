"""Proposition 1 (I, II and III are special cases of 2-D), Definition 1, and the interpolation of section 4.1."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor

from chebnet2d.conv import ChebConv2D, ExactConv, Full2D, SpectralConv
from chebnet2d.graph import SparseOperator, adjacency, shifted_laplacian
from chebnet2d.polynomials import chebyshev_nodes
from chebnet2d.theory.claim import Claim
from chebnet2d.theory.claims.bench import Bench

SECTION = "special cases"
_claim = partial(Claim, section=SECTION)
_added = partial(Claim, section=SECTION, paper="silent", verdict="added")
CHANNELS, DEGREE = 3, 6


def claims(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("special")
    x = torch.from_numpy(rng.standard_normal((34, CHANNELS)))
    operator = shifted_laplacian(adjacency(bench.real_edges), dtype=torch.float64)
    for name in ("I", "II", "III"):
        yield _claim(
            key=f"proposition1-{name}",
            claim=f"Paradigm {name} is a 2-D convolution: with its maps the outputs agree, exact and polynomial",
            paper="Proposition 1: so it says",
            verdict="holds",
            quantity="largest difference of the outputs, relative",
            measured=_difference(bench, name, x, operator, rng),
            relation="<",
            bound=1e-12,
        )
        yield _numbers(bench, name)
    yield _low_rank(bench, rng)
    yield from _definition(bench, x, rng)
    yield from _interpolation(rng)


def _random(layer: torch.nn.Module, rng: np.random.Generator) -> None:
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.from_numpy(rng.standard_normal(tuple(parameter.shape))))


def _difference(bench: Bench, name: str, x: Tensor, operator: SparseOperator, rng: np.random.Generator) -> float:
    """The paradigm's own code against the 2-D convolution that is given its maps."""
    worst = 0.0
    exact = ExactConv(CHANNELS, CHANNELS, bench.real, paradigm=name), ExactConv(CHANNELS, CHANNELS, bench.real, paradigm="2d")
    fast = (
        SpectralConv(CHANNELS, CHANNELS, DEGREE, paradigm=name).double(),
        SpectralConv(CHANNELS, CHANNELS, DEGREE, paradigm="2d").double(),
    )
    with torch.no_grad():
        for special, full in (exact, fast):
            _random(special, rng)
            full.paradigm.theta.copy_(special.paradigm.maps())
            graph = () if isinstance(special, ExactConv) else (operator,)
            one, other = special(x, *graph), full(x, *graph)
            worst = max(worst, float((one - other).abs().max() / other.abs().max()))
    return worst


def _numbers(bench: Bench, name: str) -> Claim:
    nodes, pairs = bench.real.num_nodes, CHANNELS * CHANNELS
    expected = {"I": nodes, "II": nodes + pairs, "III": nodes * CHANNELS}[name]
    formula = {"I": "N", "II": "N + C^2", "III": "N C"}[name]

    def numbers(paradigm: str) -> int:
        return sum(p.numel() for p in ExactConv(CHANNELS, CHANNELS, bench.real, paradigm=paradigm).parameters())

    return _claim(
        key=f"proposition1-{name}-numbers",
        claim=f"Paradigm {name} has {formula} = {expected} numbers where 2-D has N C^2 = {nodes * pairs}",
        paper="section 4.1: N C^2 for 2-D",
        verdict="holds",
        quantity="difference of the counted numbers from the formulas",
        measured=float(abs(numbers(name) - expected) + abs(numbers("2d") - nodes * pairs)),
        relation="==",
        bound=0.0,
    )


def _low_rank(bench: Bench, rng: np.random.Generator) -> Claim:
    """K maps of C x C' span at most min(K, C C') dimensions, so that many filters, each with its map, are every 2-D map."""
    nodes, pairs = bench.real.num_nodes, CHANNELS * CHANNELS
    full = Full2D(CHANNELS, CHANNELS, nodes).double()
    _random(full, rng)
    layer = ExactConv(CHANNELS, CHANNELS, bench.real, paradigm="rank", rank=min(nodes, pairs))
    with torch.no_grad():
        left, sizes, right = torch.linalg.svd(full.maps().reshape(nodes, pairs), full_matrices=False)
        layer.paradigm.load_state_dict({"filters": left * sizes, "weight": right.reshape(-1, CHANNELS, CHANNELS)})
        worst = float((layer.paradigm.maps() - full.maps()).abs().max())
    return _added(
        key="rank-full",
        claim="the rank-r convolution is Paradigm II for r = 1 and every 2-D convolution from r = min(K, C^2) = "
        f"{min(nodes, pairs)} on, for K terms",
        quantity="largest difference of the maps for random 2-D maps",
        measured=worst,
        relation="<",
        bound=1e-12,
    )


def _definition(bench: Bench, x: Tensor, rng: np.random.Generator) -> Iterator[Claim]:
    """Definition 1 as the NC x NC matrix that it prints: block (row j, column c) is the operator from channel c to channel j."""
    layer = ExactConv(CHANNELS, CHANNELS, bench.real, paradigm="2d")
    _random(layer, rng)
    u = bench.real.eigenvectors

    def block_matrix(values: Tensor) -> Tensor:
        rows = [torch.cat([u @ torch.diag(values[:, c, j]) @ u.T for c in range(CHANNELS)], dim=1) for j in range(CHANNELS)]
        return torch.cat(rows)

    def apply(values: Tensor) -> Tensor:
        return (block_matrix(values) @ x.T.reshape(-1)).reshape(CHANNELS, -1).T

    with torch.no_grad():
        output, theta = layer(x), layer.paradigm.maps()
        yield _claim(
            key="definition1",
            claim="sum_c U diag(theta[:, c, j]) U^T F_:c is the NC x NC matrix of Definition 1 times Vec(F)",
            paper="Definition 1: so it says",
            verdict="holds",
            quantity="largest difference of the outputs, relative",
            measured=float((apply(theta) - output).abs().max() / output.abs().max()),
            relation="<",
            bound=1e-12,
        )
        second = ExactConv(CHANNELS, CHANNELS, bench.real, paradigm="II")
        _random(second, rng)
        wanted, maps = second(x), second.paradigm.maps()
        right, printed = apply(maps), apply(maps.transpose(1, 2))
        yield _claim(
            key="proposition1-II-index",
            claim="Paradigm II is Phi^(c,j) = R_cj Phi; with the indices as printed, R_jc, the output is Phi F R^T",
            paper="proof of Proposition 1: Phi^(c,j) = r_jc Phi with r_jc = R_jc",
            verdict="corrected",
            quantity="largest difference with R_cj, relative (with R_jc: "
            f"{float((printed - wanted).abs().max() / wanted.abs().max()):.2f})",
            measured=float((right - wanted).abs().max() / wanted.abs().max()),
            relation="<",
            bound=1e-12,
        )


def _interpolation(rng: np.random.Generator) -> Iterator[Claim]:
    nodes = chebyshev_nodes(DEGREE)
    theta = torch.from_numpy(rng.standard_normal((DEGREE + 1, CHANNELS, CHANNELS)))
    worst = {}
    for scaling in ("paper", "interpolation"):
        layer = ChebConv2D(CHANNELS, CHANNELS, DEGREE, scaling=scaling).double()
        layer.paradigm.load_state_dict({"theta": theta})
        with torch.no_grad():
            worst[scaling] = float((layer.response(nodes) - theta).abs().max())
    yield _claim(
        key="interpolation-printed",
        claim="the streamlined equation does not interpolate: it lost the factor 2/(D+1) and the half of the term d = 0",
        paper="section 4.1: it is Chebyshev interpolation of the Theta_b",
        verdict="fails",
        quantity="largest distance of the filter at the nodes from Theta, as printed",
        measured=worst["paper"],
        relation=">",
        bound=0.1,
    )
    yield _claim(
        key="interpolation-corrected",
        claim="with both kept the filter is Theta_b at node x_b",
        paper="Definition 2 has both",
        verdict="corrected",
        quantity="the same distance with both kept",
        measured=worst["interpolation"],
        relation="<",
        bound=1e-12,
    )

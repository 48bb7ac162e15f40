"""Definitions 3.3 (the 2-D convolution; Appendix A.3: a fully connected layer) and 4.1 (interpolation; Section 4.1)."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.polynomial import chebyshev
from torch import Tensor

from chebnet2d.conv import ChebConv2D, ExactConv
from chebnet2d.polynomials import chebyshev_nodes
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench, distance, randomise

CHANNELS, DEGREE = 3, 6


def block_matrix(u: Tensor, values: Tensor, x: Tensor) -> Tensor:
    """The NC x NC matrix of Definition 3.3 times Vec(F): block (row j, column c) is the operator from channel c to channel j."""
    channels = range(values.shape[1])
    rows = [torch.cat([u @ torch.diag(values[:, c, j]) @ u.T for c in channels], dim=1) for j in channels]
    return (torch.cat(rows) @ x.T.reshape(-1)).reshape(len(channels), -1).T


@torch.no_grad()
def claims(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("definitions")
    x = torch.from_numpy(rng.standard_normal((34, CHANNELS)))
    full = ExactConv(CHANNELS, CHANNELS, bench.real, paradigm="2d")
    randomise(full, rng)
    yield line("definition3.3", distance(block_matrix(bench.real.eigenvectors, full.paradigm.maps(), x), full(x)))
    yield from _fully_connected(rng)
    yield from _interpolation(rng)


def _fully_connected(rng: np.random.Generator) -> Iterator[Claim]:
    """Z_ij = sum_nc Omega^(i,j)_nc F_nc, entry by entry, against the blocks."""
    nodes = 12
    f, omega = rng.standard_normal((nodes, CHANNELS)), rng.standard_normal((nodes, CHANNELS, nodes, CHANNELS))  # [i, j, n, c]
    layer = np.array([[(omega[i, j] * f).sum() for j in range(CHANNELS)] for i in range(nodes)])
    blocks = np.block([[omega[:, j, :, c] for c in range(CHANNELS)] for j in range(CHANNELS)])
    stacked = (blocks @ f.T.reshape(-1)).reshape(CHANNELS, nodes).T
    yield line("appendixA.3", distance(torch.from_numpy(stacked), torch.from_numpy(layer)))
    named = [i + nodes * (j - 1) for i in range(1, nodes + 1) for j in range(1, CHANNELS + 1)]
    wrong = nodes * CHANNELS - int((np.bincount(named, minlength=nodes * CHANNELS + 1)[1:] == 1).sum())
    yield line("appendixA.3-index", wrong, printed=CHANNELS * CHANNELS, entries=nodes * CHANNELS)


def _interpolation(rng: np.random.Generator) -> Iterator[Claim]:
    errors = [_at_the_nodes(degree, degree + 1) for degree in range(21)]
    yield line("definition4.1", max(errors), printed=_at_the_nodes(DEGREE, DEGREE + 2))
    nodes = chebyshev_nodes(DEGREE)
    theta = torch.from_numpy(rng.standard_normal((DEGREE + 1, CHANNELS, CHANNELS)))
    for scaling, key in (("paper", "section4.1-printed"), ("interpolation", "section4.1-corrected")):
        layer = ChebConv2D(CHANNELS, CHANNELS, DEGREE, scaling=scaling).double()
        layer.paradigm.load_state_dict({"theta": theta})
        yield line(key, float((layer.response(nodes) - theta).abs().max()))


def _at_the_nodes(degree: int, divisor: int) -> float:
    """Definition 4.1 with nodes cos((b + 1/2) pi / divisor), b = 0..D, written out: the largest error at them for g = exp."""
    places = np.cos((np.arange(degree + 1) + 0.5) * np.pi / divisor)
    terms = chebyshev.chebvander(places, degree)
    coefficients = 2 / (degree + 1) * terms.T @ np.exp(places)
    coefficients[0] /= 2
    return float(np.abs(terms @ coefficients - np.exp(places)).max())

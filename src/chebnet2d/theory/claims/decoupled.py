"""The decoupled architecture, MLP then convolution: what R adds, what the 2-D convolution is, how many numbers are effective."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from chebnet2d.conv import ChebConv2D, ExactConv, SpectralConv
from chebnet2d.graph import SparseOperator, adjacency, shifted_laplacian
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench, distance, randomise
from chebnet2d.theory.effective import effective_numbers
from chebnet2d.theory.example_graphs import random_graph

NODES, HIDDEN, CHANNELS, DEGREE, RANK = 60, 5, 3, 3, 2
REDUNDANT = {
    "I": ("1", 1),
    "II": ("C^2 + 1", CHANNELS**2 + 1),
    "III": ("C", CHANNELS),
    "rank": ("C^2 + r^2", CHANNELS**2 + RANK**2),
    "2d": ("C^2", CHANNELS**2),
}


def filtered_terms(operator: SparseOperator, x: Tensor, degree: int) -> Tensor:
    """T_d(L_hat) x for d = 0..D, by the recurrence on the dense matrix: (D + 1) x N x C."""
    dense = operator.to_dense()
    terms = [x, dense @ x]
    for _ in range(degree - 1):
        terms.append(2 * dense @ terms[-1] - terms[-2])
    return torch.stack(terms[: degree + 1])


def claims(bench: Bench) -> Iterator[Claim]:
    rng = bench.rng("decoupled")
    edges = random_graph(NODES, 0.08, rng)
    operator = shifted_laplacian(adjacency(edges, num_nodes=NODES), dtype=torch.float64)
    hidden = torch.from_numpy(rng.standard_normal((NODES, HIDDEN)))
    with torch.no_grad():
        yield _absorbed(operator, hidden, rng)
        yield _defferrard(operator, edges, rng)
        yield _bruna(bench, rng)
        yield _bottleneck(operator, rng)
    terms = filtered_terms(operator, torch.cat([hidden, torch.ones(NODES, 1, dtype=torch.float64)], dim=1), DEGREE)
    found = {name: effective_numbers(terms, CHANNELS, name, rank=RANK, seed=bench.seed) for name in REDUNDANT}
    for name, (formula, expected) in REDUNDANT.items():
        facts = {"paradigm": name, "formula": formula, "found": found[name]}
        yield line("effective-{paradigm}", abs(found[name].redundant - expected), **facts)
    yield line("effective-II-is-I", abs(found["II"].effective - found["I"].effective), found=found["I"])
    modulo = effective_numbers(terms, CHANNELS, softmax=True, seed=bench.seed)
    yield line("effective-softmax", abs(modulo.redundant - CHANNELS**2 - (DEGREE + 1) * CHANNELS), found=modulo)
    flat = effective_numbers(terms[:1], CHANNELS, softmax=True, seed=bench.seed)
    yield line("effective-softmax-D0", abs(flat.redundant - CHANNELS**2 - HIDDEN - 1), found=flat)


def _absorbed(operator: SparseOperator, hidden: Tensor, rng: np.random.Generator) -> Claim:
    """Paradigm II behind a linear layer against Paradigm I behind the layer that has taken R in."""
    first, second = (SpectralConv(CHANNELS, CHANNELS, DEGREE, paradigm=paradigm).double() for paradigm in ("I", "II"))
    before, after = (nn.Linear(HIDDEN, CHANNELS).double() for _ in range(2))
    randomise(second, rng)
    randomise(before, rng)
    first.paradigm.theta.copy_(second.paradigm.theta)
    weight = second.paradigm.get_parameter("weight")
    after.weight.copy_(weight.T @ before.weight)
    after.bias.copy_(before.bias @ weight)
    return line("decoupled-II", distance(first(after(hidden), operator), second(before(hidden), operator)))


def _defferrard(operator: SparseOperator, edges: Tensor, rng: np.random.Generator) -> Claim:
    from torch_geometric.nn import ChebConv

    layer = ChebConv2D(CHANNELS, CHANNELS, DEGREE, scaling="coefficients").double()
    other = ChebConv(CHANNELS, CHANNELS, DEGREE + 1, normalization="sym", bias=False).double()
    randomise(layer, rng)
    for lin, maps in zip(other.lins, layer.paradigm.maps(), strict=True):
        lin.weight.copy_(maps.T)
    x = torch.from_numpy(rng.standard_normal((NODES, CHANNELS)))
    both = torch.cat([edges, edges.flip(0)], dim=1)
    return line("decoupled-defferrard", distance(layer(x, operator), other(x, both, lambda_max=torch.tensor(2.0))))


def _bruna(bench: Bench, rng: np.random.Generator) -> Claim:
    """x_j <- V sum_i F_ij V^T x_i with diagonal F_ij of free numbers, as that paper writes its layer."""
    layer = ExactConv(CHANNELS, CHANNELS, bench.real, paradigm="2d")
    randomise(layer, rng)
    v, theta, x = bench.real.eigenvectors, layer.paradigm.theta, torch.from_numpy(rng.standard_normal((34, CHANNELS)))
    columns = [v @ sum(torch.diag(theta[:, i, j]) @ v.T @ x[:, i] for i in range(CHANNELS)) for j in range(CHANNELS)]
    return line("decoupled-bruna", distance(torch.stack(columns, dim=1), layer(x)))


def _bottleneck(operator: SparseOperator, rng: np.random.Generator) -> Claim:
    """Behind a linear layer V the maps are V W_d, side by side a matrix of rank C. A ChebConv from H channels has more."""
    wide = 2 * CHANNELS
    hidden = torch.from_numpy(rng.standard_normal((NODES, wide)))
    stacked = torch.cat(list(filtered_terms(operator, hidden, DEGREE)), dim=1)
    maps = torch.from_numpy(rng.standard_normal((wide, (DEGREE + 1) * CHANNELS)))
    lost = torch.linalg.svdvals(maps)[CHANNELS:].norm() * torch.linalg.svdvals(stacked)[-1]
    output = stacked @ torch.cat(list(maps.split(CHANNELS, dim=1)))
    return line("decoupled-bottleneck", float(lost / output.norm()))

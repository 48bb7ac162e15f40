"""A bound of the gap between training and test nodes that tells the paradigms apart.

The inputs F and the graph are given, and half of 2 m labelled nodes, drawn at random, are for training. The maps Theta ((D + 1)
x C x C, the coefficients of T_d) are from a paradigm, with ||Theta||_F <= B. With M(sigma)_d = (T_d(L_hat) F)^T sigma, for signs
sigma (n x C) on a random half of the nodes and 0 on the others,

    E sup over Theta of (test loss - training loss)  <=  4 B / m  E h(M),     h(M) = largest <M, Theta> over the paradigm,
    ||Theta||_F <= 1:

    I       |sum_c M_dcc| / sqrt C over d             III      norm of the diagonals M_dcc
    II      largest singular value of M as (D+1) x C^2        rank r   norm of the r largest
    2-D     norm of M

for the cross entropy, or any loss that is sqrt 2-Lipschitz in a node's C outputs.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from chebnet2d._checks import integer

PARADIGMS = ("I", "II", "III", "rank", "2d")


def support(matrix: Tensor, rank: int) -> dict[str, Tensor]:
    """h of every paradigm for M: ... x (D + 1) x C x C."""
    channels = matrix.shape[-1]
    diagonals = torch.diagonal(matrix, dim1=-2, dim2=-1)
    values = torch.linalg.svdvals(matrix.flatten(-2))
    return {
        "I": diagonals.sum(dim=-1).norm(dim=-1) / channels**0.5,
        "II": values[..., 0],
        "III": diagonals.flatten(-2).norm(dim=-1),
        "rank": values[..., :rank].norm(dim=-1),
        "2d": values.norm(dim=-1),
    }


def complexities(terms: Tensor, *, rank: int = 2, draws: int = 200, seed: int = 0) -> dict[str, float]:
    """E h(M) of every paradigm by random signs. ``terms``: (D + 1) x n x C, T_d(L_hat) F at the n = 2 m labelled nodes."""
    integer("complexities", "draws", draws, 1)
    generator = torch.Generator().manual_seed(seed)
    nodes, channels = terms.shape[1:]
    signs = torch.randint(0, 2, (draws, nodes, channels), generator=generator).to(terms.dtype) * 2 - 1
    half = torch.rand((draws, nodes), generator=generator).argsort(dim=1) < nodes // 2
    matrices = torch.einsum("dnc,snj->sdcj", terms, signs * half[:, :, None])
    return {name: float(values.mean()) for name, values in support(matrices, rank).items()}


def closed_form(terms: Tensor) -> dict[str, float]:
    """sqrt(E h(M)^2) >= E h(M): sqrt(S/2) times 1/sqrt C, 1, sqrt C for I, III and 2-D, with S = sum_d ||T_d F||^2."""
    half = float((terms * terms).sum()) / 2
    channels = terms.shape[2]
    return {"I": (half / channels) ** 0.5, "III": half**0.5, "2d": (half * channels) ** 0.5}


def gap_bound(complexity: float, size: float, training: int) -> float:
    """4 B / m E h(M)."""
    return 4 * size / training * complexity


@dataclass(frozen=True)
class Gap:
    """Of one paradigm and one B: mean over the splits of test loss - training loss, both losses, and the bound."""

    paradigm: str
    size: float
    training: float
    test: float
    bound: float

    @property
    def gap(self) -> float:
        return self.test - self.training


def measure_gaps(
    terms: Tensor, labels: Tensor, *, sizes: tuple[float, ...], rank: int = 2, splits: int = 5, steps: int = 200, seed: int = 0
) -> list[Gap]:
    """Train every paradigm within ||Theta||_F <= B on halves of the nodes, all splits and all B of ``sizes`` side by side.

    ``terms`` are (D + 1) x N x C: T_d(L_hat) applied to the signal; ``labels`` are N class indices.
    """
    nodes = terms.shape[1]
    half = nodes // 2
    generator = torch.Generator().manual_seed(seed)
    orders = torch.stack([torch.randperm(nodes, generator=generator)[: 2 * half] for _ in range(splits)]).repeat(len(sizes), 1)
    limits = torch.tensor(sizes, dtype=terms.dtype).repeat_interleave(splits)
    sides = [(terms[:, part].permute(1, 0, 2, 3), labels[part]) for part in (orders[:, :half], orders[:, half:])]
    complexity = complexities(terms, rank=rank, seed=seed)
    found = []
    for name in PARADIGMS:
        maps = _train(*sides[0], name, limits, rank, steps, generator)
        losses = [_loss(maps, *side).reshape(len(sizes), splits).mean(dim=1).tolist() for side in sides]
        for size, training, test in zip(sizes, *losses, strict=True):
            found.append(Gap(name, size, training, test, gap_bound(complexity[name], size, half)))
    return found


def _loss(maps: Tensor, terms: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy of every split: terms S x (D + 1) x m x C, labels S x m."""
    outputs = torch.einsum("sdnc,sdcj->snj", terms, maps)
    return torch.nn.functional.cross_entropy(outputs.transpose(1, 2), labels, reduction="none").mean(dim=1)


def _train(
    terms: Tensor, labels: Tensor, paradigm: str, limits: Tensor, rank: int, steps: int, generator: torch.Generator
) -> Tensor:
    """Adam on parameters whose maps are scaled back to the ball whenever they leave it."""
    splits, degrees, _, channels = terms.shape
    identity = torch.eye(channels, dtype=terms.dtype)
    shapes: dict[str, list[tuple[int, ...]]] = {
        "I": [(splits, degrees)],
        "II": [(splits, degrees, 1), (splits, 1, channels, channels)],
        "III": [(splits, degrees, channels)],
        "rank": [(splits, degrees, rank), (splits, rank, channels, channels)],
        "2d": [(splits, degrees, channels, channels)],
    }
    starts = [0.1 * torch.randn(shape, generator=generator, dtype=terms.dtype) for shape in shapes[paradigm]]
    parameters = [start.requires_grad_() for start in starts]

    def maps() -> Tensor:
        theta = parameters[0]
        if len(parameters) == 2:
            theta = torch.einsum("sdi,sicj->sdcj", theta, parameters[1])
        elif paradigm != "2d":
            theta = (theta if paradigm == "III" else theta[..., None])[..., None] * identity
        norm = theta.flatten(1).norm(dim=1)[:, None, None, None]
        return theta * (limits[:, None, None, None] / norm).clamp(max=1.0)

    optimiser = torch.optim.Adam(parameters, lr=0.03)
    for _ in range(steps):
        optimiser.zero_grad()
        _loss(maps(), terms, labels).sum().backward()
        optimiser.step()
    return maps().detach()

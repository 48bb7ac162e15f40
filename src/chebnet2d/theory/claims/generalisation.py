"""Generalisation: the bound on random graphs, and gaps measured on the digits graph."""

from collections.abc import Iterator

import torch
from scipy.stats import spearmanr
from torch import Tensor

from chebnet2d import data
from chebnet2d.graph import adjacency, shifted_laplacian
from chebnet2d.theory.claim import Claim, line
from chebnet2d.theory.claims.bench import Bench
from chebnet2d.theory.claims.decoupled import filtered_terms
from chebnet2d.theory.generalisation import closed_form, complexities, measure_gaps, support

DEGREE, NODES = 5, 200
SIZES = (1.0, 3.0, 10.0)
ORDER = (("I", "II"), ("II", "rank"), ("rank", "2d"), ("I", "III"), ("III", "2d"))


def digits_problem(seed: int) -> tuple[Tensor, Tensor]:
    """T_d(L_hat) F and labels of 200 nodes of the digits graph. F: the first ten principal components, of variance 1."""
    digits = data.load("digits")
    operator = shifted_laplacian(adjacency(digits.edge_index, num_nodes=digits.num_nodes), dtype=torch.float64)
    x = digits.x.to(torch.float64)
    components = torch.linalg.svd(x - x.mean(dim=0), full_matrices=False)[0][:, : digits.num_classes]
    chosen = torch.randperm(digits.num_nodes, generator=torch.Generator().manual_seed(seed))[:NODES]
    return filtered_terms(operator, components * digits.num_nodes**0.5, DEGREE)[:, chosen], digits.y[chosen]


def claims(bench: Bench) -> Iterator[Claim]:
    generator = torch.Generator().manual_seed(bench.seed)
    matrices = torch.randn(50, DEGREE + 1, 4, 4, generator=generator, dtype=torch.float64)
    values = support(matrices, 2)
    yield line("generalisation-order", sum(int((values[low] > values[high] * (1 + 1e-12)).sum()) for low, high in ORDER))
    terms, labels = digits_problem(bench.seed)
    found, formula = complexities(terms, seed=bench.seed), closed_form(terms)
    ratios = [found[name] / value for name, value in formula.items()]
    yield line("generalisation-closed", max(ratios), found=found)
    gaps = measure_gaps(terms, labels, sizes=SIZES, steps=100, splits=8, seed=bench.seed)
    yield line("generalisation-gap", max(gap.gap / gap.bound for gap in gaps))
    order = spearmanr([gap.gap for gap in gaps], [gap.bound for gap in gaps]).statistic
    yield line("generalisation-follows", float(order))
    at = {gap.paradigm: gap for gap in gaps if gap.size == SIZES[1]}
    facts = {"bound": at["2d"].bound / at["III"].bound, "third": at["III"], "full": at["2d"]}
    yield line("generalisation-III", at["III"].gap / at["2d"].gap, **facts)

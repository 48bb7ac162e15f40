"""The functions with a backward pass by hand against the same formula in plain torch: forward and backward, in turns.

python benchmarks/kernels.py [--nodes 8000] [--degree 30] [--repeats 5]
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

import chebnet2d
from chebnet2d.graph import operator_of
from chebnet2d.kernels import (
    EdgeBlocks,
    diffused_product,
    dropped_product,
    edge_flux,
    keep_mask,
    kept_walk_product,
    noisy_attention,
    residual_layers,
)
from chebnet2d.models.pdegcn import edge_gradient

FEATURES, HIDDEN, LAYERS, HEADS, RANDOM_FEATURES, SAMPLES, TERMS = 750, 64, 16, 4, 30, 10, 10
HALF = torch.tensor(0.5, dtype=torch.float64)

Case = tuple[str, list[Tensor], Callable[..., Tensor], Callable[..., Tensor]]
"""Name, what gradients are asked for, by hand, plain."""


def cases(nodes: int, degree: float) -> Iterator[Case]:
    data = chebnet2d.data.csbm(nodes, 5, FEATURES, degree=degree, seed=0)
    graph = operator_of(data.edge_index, None, data.x, kind="P~", owner="kernels")
    hidden, start = torch.randn(2, nodes, HIDDEN)

    def plain_dropped(weight: Tensor) -> Tensor:
        return (data.x * keep_mask(data.x.shape, HALF, data.x)) @ weight

    yield "dropout, then a product", [torch.randn(FEATURES, HIDDEN)], lambda w: dropped_product(data.x, w, HALF), plain_dropped

    def plain_layers(hidden: Tensor, start: Tensor, maps: Tensor) -> Tensor:
        for number, layer in enumerate(maps):
            dropped = hidden * keep_mask(hidden.shape, HALF, hidden) if number else hidden
            hidden = ((0.9 * (graph @ dropped) + 0.1 * start) @ layer).relu()
        return hidden

    maps = torch.eye(HIDDEN) + torch.randn(LAYERS, HIDDEN, HIDDEN) / HIDDEN
    yield f"{LAYERS} residual layers", [hidden, start, maps], lambda *x: residual_layers(graph, *x, HALF, 0.1), plain_layers

    shares, weight = torch.rand(TERMS, FEATURES), torch.randn(FEATURES, HIDDEN)

    def diffused(shares: Tensor, weight: Tensor) -> Tensor:
        return diffused_product(graph, data.x, shares, weight)

    yield "a kept walk, against not", [shares, weight], lambda *x: kept_walk_product(graph, data.x, *x), diffused

    gradient = edge_gradient(graph)
    blocks = EdgeBlocks.of(gradient)

    def plain_flux(x: Tensor, weight: Tensor) -> Tensor:
        along = gradient @ x
        return gradient.T @ ((along * keep_mask(along.shape, HALF, x)) @ weight.T).relu()

    yield "flux along edges", [hidden, torch.eye(HIDDEN)], lambda x, w: edge_flux(blocks, x, w, HALF), plain_flux

    query, key = torch.rand(2, nodes, HEADS, RANDOM_FEATURES) + 0.1
    ends = [torch.from_numpy(index).long() for index in graph.to_scipy().nonzero()]

    def sampled(query: Tensor, key: Tensor) -> Tensor:
        return graph.sampled_product(query.movedim(1, 0), key.movedim(1, 0))

    def gathered(query: Tensor, key: Tensor) -> Tensor:
        return (query[ends[0]] * key[ends[1]]).sum(dim=2)

    yield "attention on edges", [query, key], sampled, gathered

    noise = torch.rand(nodes, HEADS, SAMPLES)

    def plain_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        totals = torch.einsum("nhm,nhs,nhd->hsmd", key, noise, value)
        normaliser = torch.einsum("nhm,hsm->nhs", query, torch.einsum("nhm,nhs->hsm", key, noise))
        return (torch.einsum("nhm,hsmd->nhsd", query, totals) / normaliser.unsqueeze(3)).mean(dim=2)

    value = torch.randn(nodes, HEADS, HIDDEN // 2)
    yield "noisy attention", [query, key, value], lambda *x: noisy_attention(*x, noise), plain_attention


def seconds(function: Callable[..., Tensor], inputs: list[Tensor]) -> float:
    leaves = [x.detach().requires_grad_() for x in inputs]
    started = time.perf_counter()
    function(*leaves).sum().backward()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=8000)
    parser.add_argument("--degree", type=float, default=30.0)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'':<26}{'plain ms':>10}{'by hand ms':>12}{'ratio':>8}")
    for name, inputs, by_hand, plain in cases(arguments.nodes, arguments.degree):
        pairs = [(seconds(plain, inputs), seconds(by_hand, inputs)) for _ in range(arguments.repeats + 1)]
        slow, fast = (1000 * statistics.median(times) for times in zip(*pairs[1:], strict=True))  # the first warms up
        print(f"{name:<26}{slow:>10.1f}{fast:>12.1f}{slow / fast:>8.2f}", flush=True)


if __name__ == "__main__":
    main()

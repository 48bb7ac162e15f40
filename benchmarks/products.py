"""Products of a graph's adjacency matrix with N x C matrices: the sparse product of torch (MKL) against an embedding bag.

    python benchmarks/products.py [--datasets cora,chameleon,actor,photo] [--widths 8,16,32,64] [--rounds 30]

One thread; the two take turns, and the figures are medians over the rounds, in ms. Above 16 columns ``SparseOperator`` takes the
bag.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

import chebnet2d
from chebnet2d.graph import adjacency


def sparse_product(graph: Tensor, x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    return torch.addmm(out, graph, x, beta=0, out=out)


def bag(graph: Tensor, x: Tensor) -> Tensor:
    return torch.embedding_bag(x, graph.col_indices(), graph.crow_indices(), False, 0, False, graph.values(), True)[0]


def milliseconds(way: Callable[[Tensor, Tensor], Tensor], graph: Tensor, x: Tensor) -> float:
    start = time.perf_counter()
    way(graph, x)
    return 1e3 * (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="cora,chameleon,actor,photo")
    parser.add_argument("--widths", default="8,16,32,64,128")
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'graph':<12} {'columns':>7} {'sparse':>8} {'bag':>8} {'times':>6}")
    for name in arguments.datasets.split(","):
        data = chebnet2d.data.load(name)
        graph = adjacency(data.edge_index, num_nodes=data.num_nodes, dtype=torch.float32).csr
        for width in map(int, arguments.widths.split(",")):
            x = torch.randn(data.num_nodes, width)
            times = [[milliseconds(way, graph, x) for way in (sparse_product, bag)] for _ in range(arguments.rounds)]
            ours, theirs = np.median(times, axis=0)[::-1]
            print(f"{name:<12} {width:>7} {theirs:>8.3f} {ours:>8.3f} {theirs / ours:>6.1f}", flush=True)


if __name__ == "__main__":
    main()

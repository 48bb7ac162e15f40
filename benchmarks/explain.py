"""Time of ``chebnet2d.explain`` per node on a generated graph: ``python benchmarks/explain.py [--nodes 100000]``."""

import argparse
import statistics
import time

import torch
from torch_geometric.data import Data

import chebnet2d


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--classes", type=int, default=10)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    data = Data(
        x=torch.randn(arguments.nodes, arguments.features),
        edge_index=torch.randint(arguments.nodes, (2, arguments.edges // 2)),
    )
    data.edge_index = torch.cat([data.edge_index, data.edge_index.flip(0)], dim=1)
    model = chebnet2d.ChebNet2D(arguments.features, arguments.classes, init="xavier")
    for batch in (1, 10):
        seconds = []
        for start in range(0, 3 * batch, batch):
            before = time.perf_counter()
            chebnet2d.explain(model, data, list(range(start, start + batch)))
            seconds.append((time.perf_counter() - before) / batch)
        print(f"{batch} nodes at once: {seconds[0]:.2f} s per node at first, median {statistics.median(seconds):.2f} s per node")


if __name__ == "__main__":
    main()

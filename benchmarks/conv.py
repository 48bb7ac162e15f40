"""Forward + backward of ChebConv2D against torch_geometric's ChebConv: same weights, same output, one run.

Further rows of each graph: both layers compiled (--compile; needs a C++ compiler), the same filter written by hand with torch's
CSR products and autograd, ChebConv2D with edge weights that have a gradient, as a multiple of the pass with constant weights, and
what the look at the numbers of edge_index adds to the pass with a ready operator, in percent.

    python benchmarks/conv.py [--repeats 9] [--compile] [--json FILE]

Graphs: Cora and Tolokers from the data root where present, and a generated graph of 20,000 nodes and 1,000,000 stored edges.
Times are medians. Peak memory is what the process gains during one forward + backward pass at D = 2 and D = 16, each in a fresh
process (maximum resident size, read from the kernel).
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.nn import ChebConv

import chebnet2d
from chebnet2d.graph import adjacency, shifted_laplacian
from chebnet2d.polynomials import coefficient_matrix

DEGREE = 10
CHANNELS = (5, 16, 64)


def generated() -> tuple[Tensor, int]:
    """20,000 nodes, 500,000 random undirected edges: 1,000,000 stored ones."""
    nodes, edges = 20_000, 500_000
    rng = np.random.default_rng(0)
    codes = np.unique(rng.integers(0, nodes * nodes, size=2 * edges))
    row, col = codes // nodes, codes % nodes
    keep = row < col
    pairs = np.stack([row[keep], col[keep]])
    pairs = pairs[:, rng.permutation(pairs.shape[1])[:edges]]
    return torch.from_numpy(np.concatenate([pairs, pairs[::-1]], axis=1)), nodes


def graphs() -> dict[str, tuple[Tensor, int]]:
    found: dict[str, tuple[Tensor, int]] = {}
    for name in ("cora", "tolokers"):
        try:
            data = chebnet2d.data.load(name)
        except chebnet2d.InputError as error:
            print(f"{name} left out: {error}", file=sys.stderr)
            continue
        found[name] = (data.edge_index, data.num_nodes)
    found["generated"] = generated()
    return found


def undirected(edge_index: Tensor, nodes: int) -> Tensor:
    row, col = adjacency(edge_index, num_nodes=nodes).to_scipy().nonzero()
    return torch.from_numpy(np.stack([row, col]).astype(np.int64))


def same_layers(channels: int) -> tuple[chebnet2d.nn.ChebConv2D, ChebConv]:
    ours = chebnet2d.nn.ChebConv2D(channels, channels, DEGREE)
    theirs = ChebConv(channels, channels, K=DEGREE + 1, bias=False)
    with torch.no_grad():
        maps = torch.einsum("db,bij->dij", coefficient_matrix(DEGREE, "interpolation").float(), ours.paradigm.maps())
        for lin, weight in zip(theirs.lins, maps, strict=True):
            lin.weight.copy_(weight.T)
    return ours, theirs


def median_ms(step: Any, repeats: int) -> float:
    return medians_ms([step], repeats)[0]


def medians_ms(steps: list[Any], repeats: int) -> list[float]:
    """In turn, so that what else the machine does befalls all of them."""
    for step in steps * 2:
        step()
    times = np.zeros((repeats, len(steps)))
    for r in range(repeats):
        for s, step in enumerate(steps):
            start = time.perf_counter()
            step()
            times[r, s] = time.perf_counter() - start
    return [1e3 * float(time) for time in np.median(times, axis=0)]


class ByHand(torch.nn.Module):
    """The same filter with torch's CSR products and autograd, as one would write it without a library."""

    def __init__(self, ours: chebnet2d.nn.ChebConv2D, edge_index: Tensor, nodes: int) -> None:
        super().__init__()
        self.matrix = shifted_laplacian(adjacency(edge_index, num_nodes=nodes)).csr
        transform = coefficient_matrix(DEGREE, "interpolation").float()
        self.maps = torch.nn.Parameter(torch.einsum("db,bij->dij", transform, ours.paradigm.maps()).detach())

    def forward(self, x: Tensor, _: Tensor) -> Tensor:
        before, term = x, self.matrix @ x
        z = before @ self.maps[0] + term @ self.maps[1]
        for weight in self.maps[2:]:
            before, term = term, 2 * (self.matrix @ term) - before
            z = z + term @ weight
        return z


def compare(
    name: str, edge_index: Tensor, nodes: int, channels: int, repeats: int, *, with_compiler: bool = False
) -> dict[str, Any]:
    torch.manual_seed(0)
    ours, theirs = same_layers(channels)
    x = torch.randn(nodes, channels, requires_grad=True)
    lambda_max = torch.tensor(2.0)  # torch_geometric looks for the largest weight otherwise; this is its fast case

    def run(layer: torch.nn.Module, *extra: Any, graph: Any = edge_index) -> Tensor:
        for tensor in (x, *layer.parameters()):
            tensor.grad = None
        z: Tensor = layer(x, graph, *extra)
        z.square().sum().backward()
        return z

    mine, other = run(ours), run(theirs, None, None, lambda_max)
    error = float((mine - other).detach().abs().max() / other.detach().abs().max())
    if error > 1e-4:
        raise SystemExit(f"{name}, C = {channels}: the two layers differ by {error:g}")
    ready = shifted_laplacian(adjacency(edge_index, num_nodes=nodes))
    pairs = 10 * repeats  # the difference is a few percent
    ours_ms, ready_ms = medians_ms([lambda: run(ours), lambda: run(ours, graph=ready)], pairs)
    theirs_ms = median_ms(lambda: run(theirs, None, None, lambda_max), max(3, repeats // 3))
    by_hand = ByHand(ours, edge_index, nodes)
    error = max(error, float((run(by_hand) - other).detach().abs().max() / other.detach().abs().max()))
    weight = torch.ones(edge_index.shape[1])  # the same in both directions
    learned = weight.clone().requires_grad_()
    constant_ms, learned_ms = medians_ms([lambda: run(ours, weight), lambda: run(ours, learned)], repeats)
    figures = {
        "ours_ms": ours_ms,
        "ready_ms": ready_ms,
        "look_percent": 100 * (ours_ms / ready_ms - 1),
        "chebconv_ms": theirs_ms,
        "ratio": theirs_ms / ours_ms,
        "error": error,
        "by_hand_ms": median_ms(lambda: run(by_hand), max(3, repeats // 3)),
        "learned_ms": learned_ms,
        "learned_ratio": learned_ms / constant_ms,
    }
    if with_compiler:
        both = torch.compile(ours), torch.compile(theirs)
        figures["ours_compiled_ms"] = median_ms(lambda: run(both[0]), repeats)
        figures["chebconv_compiled_ms"] = median_ms(lambda: run(both[1], None, None, lambda_max), max(3, repeats // 3))
    return {"graph": name, "C": channels, **figures}


def peak_of_one_pass(degree: int, channels: int, which: str) -> float:
    """In this (fresh) process: MiB gained above what stood before the pass."""
    edge_index, nodes = generated()
    layer = chebnet2d.nn.ChebConv2D(channels, channels, degree) if which == "ours" else ChebConv(channels, channels, degree + 1)
    x = torch.randn(nodes, channels, requires_grad=True)
    with torch.no_grad():
        layer(x, edge_index)  # warms up; ours builds and remembers the operator
    # Fill the holes of the heap, which would serve the small tensors for nothing and hide them.
    ballast = [torch.zeros(2**14) for _ in range(2000)]
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak that the kernel keeps
    before = _status("VmRSS")
    layer(x, edge_index).square().sum().backward()
    peak = (_status("VmHWM") - before) / 1024
    del ballast
    return peak


def _peak_in_fresh_process(degree: int, channels: int, which: str) -> float:
    # Every tensor gets pages of its own and gives them back: the kernel's figure is then the tensors' figure.
    env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, __file__, "--peak", str(degree), str(channels), which]
    return float(subprocess.run(command, check=True, capture_output=True, env=env).stdout)


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise RuntimeError(field)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--compile", action="store_true", help="compile both layers, too (needs a C++ compiler)")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    parser.add_argument("--peak", nargs=3, metavar=("D", "C", "LAYER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        degree, channels, which = arguments.peak
        print(peak_of_one_pass(int(degree), int(channels), which))
        return

    rows = []
    print(f"forward + backward, D = {DEGREE}, {torch.get_num_threads()} threads, medians in ms")
    print(f"{'graph':<10} {'C':>3} {'ChebConv2D':>11} {'ChebConv':>10} {'ratio':>6}")
    for name, (edge_index, nodes) in graphs().items():
        both = undirected(edge_index, nodes)
        for channels in CHANNELS:
            row = compare(name, both, nodes, channels, arguments.repeats, with_compiler=arguments.compile)
            rows.append(row)
            times = f"{row['ours_ms']:>11.2f} {row['chebconv_ms']:>10.1f} {row['ratio']:>6.1f}"
            print(f"{name:<10} {channels:>3} {times}", flush=True)
            more = f"by hand {row['by_hand_ms']:.1f}, learned weights {row['learned_ms']:.1f} ({row['learned_ratio']:.2f} times)"
            more += f", edge_index against a ready operator {row['look_percent']:+.1f} %"
            if arguments.compile:
                more += f", compiled {row['ours_compiled_ms']:.2f} and {row['chebconv_compiled_ms']:.1f}"
            print(f"{'':<14} {more}", flush=True)
    memory = []
    print("peak memory of one pass on the generated graph, MiB above what stood before")
    for channels in CHANNELS:
        for which in ("ours", "chebconv"):
            low, high = (_peak_in_fresh_process(d, channels, which) for d in (2, 16))
            memory.append({"C": channels, "layer": which, "D2_mib": low, "D16_mib": high, "ratio": high / low})
            print(f"C = {channels:>2}, {which:<8}: D = 2 {low:7.1f}, D = 16 {high:7.1f}, ratio {high / low:.2f}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"time": rows, "memory": memory, "threads": os.cpu_count()}, indent=2))


if __name__ == "__main__":
    main()

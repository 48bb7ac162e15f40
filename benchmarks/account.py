"""Where the time of a stack goes: each part of an epoch measured alone, beside what its bytes and multiplications would take.

    python benchmarks/account.py [--dataset cora] [--width R] [--rounds 30] [--json FILE]

One stack of R runs (MLP with 64 hidden units, convolution of degree 10) on one thread. A part is called as the training calls it,
on arrays of the same shapes; its time is the median over the rounds. The bound of a part: its inputs read and its results written
once, at the speed of a copy of 8 MiB in this process, or its multiplications at the speed of a large product, the longer of both.
What the parts do not explain is the interpreter, ``vmap`` and the bookkeeping of autograd.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

import chebnet2d
from chebnet2d.graph import SparseOperator
from chebnet2d.kernels import chebyshev_filter, keep_mask, relu_dropout
from chebnet2d.models import features_of
from chebnet2d.training import stack_width
from chebnet2d.training.allocation import keep_freed_memory
from chebnet2d.training.batches import Batch
from chebnet2d.training.learners.stack import Stack
from chebnet2d.training.metrics import Meter, find_metric
from chebnet2d.training.tasks.full_graph import FullGraphSource
from protocol import DEGREE, DROPOUT, HIDDEN, runs_of


class Part(NamedTuple):
    name: str
    call: Callable[[], Any]
    numbers: int
    """Floats that have to be read or written."""
    products: int
    """Multiplications, each with an addition."""


def median_ms(call: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds + 3):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times[3:]))


def parts_of(data: Any, task: Any, stack: Stack, runs: int) -> list[Part]:
    """The parts of one epoch: a training step and a look at the validation nodes."""
    x, nodes, classes = features_of(data), data.num_nodes, data.num_classes
    operator = chebnet2d.graph.operator_of(data.edge_index, None, x, owner="account")
    sparse = isinstance(x, SparseOperator)
    entries = x.nnz if sparse else x.numel()
    rate = torch.full((runs,), DROPOUT, dtype=torch.float64)
    weights = torch.randn(runs, x.shape[1], HIDDEN, requires_grad=True)
    hidden = torch.randn(runs, nodes, HIDDEN, requires_grad=True)
    second = torch.randn(runs, HIDDEN, max(classes, 16), requires_grad=True)
    logits = torch.randn(runs, nodes, classes, requires_grad=True)
    maps = torch.randn(runs, DEGREE + 1, classes, classes, requires_grad=True)

    def first(p: Tensor, w: Tensor) -> Tensor:
        if sparse:
            return x.weighted_product(x.values * keep_mask(x.values.shape, p, x.values), w)
        return chebnet2d.kernels.dropped_product(x, w, p)

    mapped = torch.func.vmap(first, randomness="different")
    dropped = torch.func.vmap(relu_dropout, randomness="different")
    filtered = torch.func.vmap(lambda h, w: chebyshev_filter(operator, h, w))
    out, kept, z = mapped(rate, weights), dropped(hidden, rate), filtered(logits, maps)
    product = hidden @ second
    of_out, of_z, of_product = torch.randn_like(out), torch.randn_like(z), torch.randn_like(product)
    batch = Batch(task.inputs, task.y, task.val)
    names = list(stack.params)
    gradients = [torch.randn_like(stack.params[name]) for name in names]

    def gradient(result: Tensor, wanted: list[Tensor], of_result: Tensor) -> Callable[[], Any]:
        return lambda: torch.autograd.grad(result, wanted, of_result, retain_graph=True)

    def look() -> None:
        meter = Meter([find_metric("accuracy")])
        with torch.no_grad():
            meter.add(logits, batch)

    def loss() -> None:
        torch.autograd.grad(Batch(task.inputs, task.y, task.train).losses(logits, 1).sum(), [logits])

    def update() -> None:
        with torch.no_grad():
            for name, one in zip(names, gradients, strict=True):
                stack._update(name, one)

    def plain(function: Callable[[], Any]) -> Callable[[], Any]:
        def call() -> None:
            with torch.no_grad():
                function()

        return call

    wide, narrow, graph = runs * nodes * HIDDEN, runs * nodes * classes, 2 * operator.nnz + nodes
    stored = (2 if sparse else 1) * entries
    conv = runs * DEGREE * operator.nnz * classes + runs * (DEGREE + 1) * nodes * classes**2
    weight_numbers = sum(one.numel() for one in gradients)
    return [
        Part("X W with dropout, forward", plain(lambda: mapped(rate, weights)), runs * stored + weights.numel() + wide,
             runs * entries * HIDDEN),
        Part("X W, gradient", gradient(out, [weights], of_out), runs * stored + weights.numel() + wide, runs * entries * HIDDEN),
        Part("X W, validation", plain(lambda: torch.func.vmap(lambda w: x @ w)(weights)), stored + weights.numel() + wide,
             runs * entries * HIDDEN),
        Part("ReLU and dropout, forward", plain(lambda: dropped(hidden, rate)), 2 * wide, 0),
        Part("ReLU and dropout, gradient", gradient(kept, [hidden], torch.randn_like(kept)), 3 * wide, 0),
        Part("ReLU, validation", plain(lambda: hidden.relu()), 2 * wide, 0),
        Part("second layer, forward twice", plain(lambda: (hidden @ second, hidden @ second)), 2 * (wide + narrow),
             2 * wide * classes),
        Part("second layer, gradients", gradient(product, [hidden, second], of_product), 2 * wide + narrow, 2 * wide * classes),
        Part("convolution, forward twice", plain(lambda: (filtered(logits, maps), filtered(logits, maps))),
             2 * (2 * narrow + graph), 2 * conv),
        Part("convolution, gradients", gradient(z, [logits, maps], of_z), 3 * narrow + graph,
             conv + runs * (DEGREE + 1) * nodes * classes**2),
        Part("loss and its gradient", loss, 2 * narrow + runs * nodes, 0),
        Part("loss and accuracy, validation", look, narrow + runs * nodes, 0),
        Part("Adam", update, 7 * weight_numbers, 0),
    ]  # fmt: skip


def measure(name: str, width: int | None, rounds: int) -> dict[str, Any]:
    data = chebnet2d.data.row_normalize_features(chebnet2d.data.load(name))
    width = width or stack_width(runs_of(data, range(1))[0].model, data)
    runs = runs_of(data, range(width), epochs=10**6, patience=10**6)
    source = FullGraphSource(data, None, runs, torch.device("cpu"))
    task = source.task(runs)
    learner = source.learner(runs)

    def epoch() -> None:
        for rows, shards in task.training_batches(1):
            learner.step(task, rows, shards)
        learner.evaluate(task)

    block, square = torch.randn(2**21), torch.randn(1024, 1024)
    target = torch.empty_like(block)
    per_ms = 2 * block.numel() / median_ms(lambda: target.copy_(block), rounds)  # floats read or written
    products = 1024**3 / median_ms(lambda: square @ square, rounds)
    total = median_ms(epoch, rounds)
    rows = []
    for part in parts_of(data, task, learner.stack, width):
        bound = max(part.numbers / per_ms, part.products / products)
        rows.append({"part": part.name, "ms": median_ms(part.call, rounds) / width, "bound_ms": bound / width})
    rest = total / width - sum(row["ms"] for row in rows)
    rows.append({"part": "interpreter, vmap, autograd: the rest", "ms": rest, "bound_ms": 0.0})
    return {
        "dataset": name, "runs": width, "epoch_ms": total / width, "copy_gb_per_s": 4e-6 * per_ms,
        "gflops": 2e-6 * products, "parts": rows,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--width", type=int)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    found = measure(arguments.dataset, arguments.width, arguments.rounds)
    speeds = f"copy {found['copy_gb_per_s']:.0f} GB/s, products {found['gflops']:.0f} GFlop/s"
    print(f"{found['dataset']}: {found['epoch_ms']:.2f} ms per run and epoch, {found['runs']} runs, one thread; {speeds}\n")
    print("| part | ms per run and epoch | share % | bytes or multiplications alone, ms |\n|---|---|---|---|")
    for row in found["parts"]:
        bound = f"{row['bound_ms']:.2f}" if row["bound_ms"] else ""
        print(f"| {row['part']} | {row['ms']:.2f} | {100 * row['ms'] / found['epoch_ms']:.0f} | {bound} |")
    print(f"| together | {found['epoch_ms']:.2f} | 100 | {sum(row['bound_ms'] for row in found['parts']):.2f} |")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Each step beside what the memory of the machine allows, by a copy in the same run; and float16 bases beside float32.

python benchmarks/large/limits.py --edges 10000000 --out DIR
python benchmarks/large/limits.py --dataset ogbn-products --root GRAPHS --out DIR     # that graph; its reading is not timed

``gib``: what a step has to read and write at least, each number once. ``times_the_limit``: its seconds over those of a copy of as
much. A product reads a row of x for every entry of the operator, in no order: ``gathered_gib`` counts these and what is written,
``times_gathered`` is its seconds over those of a copy of that. ``times_with_disk``: of ``precompute``, over the seconds of its
products as measured and of writing a plain file of as many bytes.

An epoch is taken apart, in turns: ``epoch`` of all that a training pass does, ``batches`` of reading its batches alone, and
``products`` of its matrix products alone, with numbers that are in the cache.
"""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import torch

import chebnet2d
from chebnet2d.bases import Bases, large_operator, precompute
from chebnet2d.bases.recurrence import large_step
from chebnet2d.data.own_graph import read_graph
from chebnet2d.models import on_bases
from chebnet2d.training import Batches, Run, Settings, fit, stored_split
from chebnet2d.training.learners.stack_learner import StackLearner
from chebnet2d.training.tasks.bases import BasesSource
from measuring import DEGREE, command, copy_gib_per_second, peak_gib, record, write_gib_per_second

GIB = 2**30
ROWS, HIDDEN = 10_000, 64

parser = command(__doc__)
parser.add_argument("--edges", type=int, default=10_000_000)
parser.add_argument("--features", type=int, default=64)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--dataset")
parser.add_argument("--root", type=Path)
parser.add_argument("--out", type=Path, required=True)
arguments = parser.parse_args()

speed = copy_gib_per_second()
steps: dict[str, Any] = {}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    made = work()
    return time.perf_counter() - start, made


def step(name: str, gib: float, work: Callable[[], Any], repeats: int = 1, gathered: float | None = None) -> Any:
    times, made = [], None
    for _ in range(repeats):
        del made  # one result at a time in memory
        seconds, made = timed(work)
        times.append(seconds)
    seconds = float(np.median(times))
    steps[name] = {"seconds": seconds, "gib": gib, "times_the_limit": seconds * speed / gib}
    if gathered is not None:
        steps[name] |= {"gathered_gib": gathered, "times_gathered": seconds * speed / gathered}
    print(name, steps[name], flush=True)
    return made


def own_edges() -> Any:
    """A graph whose edges are read from a CSV file, in no order, and turned into an operator."""
    data = chebnet2d.data.csbm(
        nodes=arguments.edges // 10, classes=5, features=arguments.features, homophily=0.6, degree=20, seed=0
    )
    order = torch.randperm(data.edge_index.shape[1], generator=torch.Generator().manual_seed(0))
    shuffled = data.edge_index[:, order]
    shuffled = shuffled[:, shuffled[0] < shuffled[1]].clone()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "edges.csv"
    pa.csv.write_csv(pa.table({"source": shuffled[0].numpy(), "target": shuffled[1].numpy()}), path)
    least = (path.stat().st_size + 16 * shuffled.shape[1]) / GIB
    step("reading a CSV file of edges", least, lambda: read_graph(path, features="identity"))
    path.unlink()
    entries = data.edge_index.shape[1]
    least = (16 * shuffled.shape[1] + 8 * entries) / GIB
    step("operator, edges in any order", least, lambda: large_operator(shuffled, data.num_nodes))
    return data


def one_product(operator: Any, width: int) -> tuple[float, float]:
    """The least GiB of it, and with the rows that it gathers."""
    rows, listed = operator.shape[0], operator.nnz
    once, gathered = (8 * listed + 8 * rows * width) / GIB, (4 * listed * width + 4 * rows * width + 8 * listed) / GIB
    x, out = torch.randn(rows, width), torch.zeros(rows, width)
    step(f"one product with {width} columns", once, lambda: large_step(operator, x, out), arguments.repeats, gathered)
    return once, gathered


def epoch_parts(bases: Bases, split: Any, method: str) -> dict[str, float]:
    """Medians of the seconds of a pass over the training rows, of reading its batches alone, and of its matrix products alone."""
    run = Run(on_bases(method, bases, hidden_channels=HIDDEN), split, 0, Settings.of(lr=1e-3))
    source = BasesSource(bases, Batches(ROWS), [run], torch.device("cpu"))
    task, learner = source.task([run]), StackLearner([run], 1)
    matrices = [p.shape for p in run.model.parameters() if p.dim() > 1]
    rows = torch.randn(256, max(max(shape[-2:]) for shape in matrices))  # in the cache

    def epoch(number: int) -> None:
        for size, shards in task.training_batches(number):
            learner.step(task, size, shards)

    def batches(number: int) -> None:
        for _ in source.batches_of(number):
            pass

    def products(_: int) -> None:
        """Forward, of the weights and of the inputs: three products for each matrix, of the first layer two."""
        count = split.train.numel() // rows.shape[0]
        for position, shape in enumerate(matrices):
            times, (one, other) = int(np.prod(shape[:-2])), shape[-2:]
            left, weight = rows[:, :one].contiguous(), torch.randn(one, other)
            for _ in range(count * times * (2 if position == 0 else 3)):
                torch.mm(left, weight)

    parts: dict[str, list[float]] = {"epoch": [], "batches": [], "products": []}
    for number in range(1, arguments.epochs + 2):  # the first is not counted
        for name, work in (("epoch", epoch), ("batches", batches), ("products", products)):
            parts[name].append(timed(lambda work=work, number=number: work(number))[0])
    medians = {name: float(np.median(times[1:])) for name, times in parts.items()}
    return {**medians, "epoch_over_batches": medians["epoch"] / medians["batches"], "held": float(source.held is not None)}


data: Any = own_edges() if arguments.dataset is None else chebnet2d.data.load(arguments.dataset, arguments.root)
nodes, features, entries = data.num_nodes, data.num_features, data.edge_index.shape[1]
data.edge_index = step("operator, sorted edges", 24 * entries / GIB, lambda: large_operator(data.edge_index, nodes))
width = min(64, features)  # as many columns as ``precompute`` takes at a time
once, gathered = one_product(data.edge_index, width)
for dtype, size in (("float32", 4), ("float16", 2)):
    folder = arguments.out / dtype
    shutil.rmtree(folder, ignore_errors=True)
    written = size * (DEGREE + 1) * nodes * features / GIB
    share = DEGREE * features / width  # products of a block of that width
    work = lambda folder=folder, dtype=dtype: precompute(data, out=folder, degree=DEGREE, dtype=dtype)  # noqa: E731
    name = f"precompute, {dtype}"
    disk = written / write_gib_per_second(arguments.out)
    bases = step(name, share * once + written, work, 1, share * gathered + written)
    products = share * steps[f"one product with {width} columns"]["seconds"]
    steps[name] |= {"products": products, "disk": disk, "times_with_disk": steps[name]["seconds"] / (products + disk)}
    print(f"{name}: products {products:.3g} s, a plain file {disk:.3g} s", flush=True)
    kind = "uniform" if bases.parts is None else "fixed"
    split = stored_split(bases, kind)
    for method in ("chebnet2d", "chebnetii"):
        parts: dict[str, Any] = epoch_parts(bases, split, method)
        read = size * (DEGREE + 1) * features * split.train.numel() / GIB
        result = fit(
            on_bases(method, bases, hidden_channels=HIDDEN),
            bases,
            split,
            batches=Batches(ROWS),
            epochs=arguments.epochs,
            patience=arguments.epochs,
        )
        parts |= {"gib": read, "times_the_limit": parts["epoch"] * speed / read, "test": dict(result.test)}
        steps[f"an epoch of {method}, {dtype}"] = parts
        print(f"an epoch of {method}, {dtype}", parts, flush=True)
figures = {"nodes": nodes, "entries": entries, "features": features, "copy_gib_per_second": speed, "steps": steps}
record(arguments, "limits", {**figures, "peak_gib": peak_gib()})

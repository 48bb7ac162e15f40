"""Each step beside what the memory of the machine allows, by a copy in the same run; and float16 bases beside float32.

python benchmarks/large/limits.py --edges 10000000 --out DIR

``gib``: what a step has to read and write at least, each number once. ``times_the_limit``: its seconds over those of a copy of as
much. A product reads a row of x for every entry of the operator, in no order: ``gathered_gib`` counts these, and is what it does
where x fits no cache.
"""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import chebnet2d
from chebnet2d.bases import Bases, large_operator, precompute
from chebnet2d.bases.recurrence import large_step
from chebnet2d.models import on_bases
from chebnet2d.training import Batches, fit, stored_split
from measuring import DEGREE, command, copy_gib_per_second, peak_gib, record

GIB = 2**30

parser = command(__doc__)
parser.add_argument("--edges", type=int, default=10_000_000)
parser.add_argument("--features", type=int, default=64)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--out", type=Path, required=True)
arguments = parser.parse_args()

speed = copy_gib_per_second()
nodes, features = arguments.edges // 10, arguments.features
data = chebnet2d.data.csbm(nodes=nodes, classes=5, features=features, homophily=0.6, degree=20, seed=0)
steps: dict[str, Any] = {}


def step(name: str, gib: float, work: Callable[[], Any], repeats: int = 1, **more: Any) -> Any:
    times, made = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        made = work()
        times.append(time.perf_counter() - start)
    seconds = float(np.median(times))
    steps[name] = {"seconds": seconds, "gib": gib, "times_the_limit": seconds * speed / gib, **more}
    print(name, steps[name], flush=True)
    return made


shuffled = data.edge_index[:, torch.randperm(data.edge_index.shape[1], generator=torch.Generator().manual_seed(0))]
shuffled = shuffled[:, shuffled[0] < shuffled[1]].clone()
entries = data.edge_index.shape[1]
step("operator, edges in any order", (16 * shuffled.shape[1] + 8 * entries) / GIB, lambda: large_operator(shuffled, nodes))
data.edge_index = step("operator, sorted edges", 24 * entries / GIB, lambda: large_operator(data.edge_index, nodes))
x = torch.randn(nodes, features)
out = torch.zeros_like(x)
once = (8 * entries + 8 * nodes * features) / GIB
gathered = 4 * entries * features / GIB
step("one product", once, lambda: large_step(data.edge_index, x, out), arguments.repeats, gathered_gib=gathered)
for dtype, size in (("float32", 4), ("float16", 2)):
    folder = arguments.out / dtype
    shutil.rmtree(folder, ignore_errors=True)
    written = size * (DEGREE + 1) * nodes * features / GIB
    step(
        f"precompute, {dtype}",
        DEGREE * once + written,
        lambda folder=folder, dtype=dtype: precompute(data, out=folder, degree=DEGREE, dtype=dtype),
        gathered_gib=DEGREE * gathered,
    )
    bases = Bases.open(folder)
    model = on_bases("chebnet2d", bases)
    split = stored_split(bases, "uniform")
    settings = {"epochs": arguments.epochs, "patience": arguments.epochs}
    result = fit(model, bases, split, batches=Batches(10_000), **settings)
    read = size * (DEGREE + 1) * features * (split.train.numel() + split.val.numel()) / GIB
    seconds = result.seconds / result.epochs
    limit = seconds * speed / read
    steps[f"an epoch, {dtype}"] = {"seconds": seconds, "gib": read, "times_the_limit": limit, "test": dict(result.test)}
figures = {"nodes": nodes, "entries": entries, "features": features, "copy_gib_per_second": speed, "steps": steps}
record(arguments, "limits", {**figures, "peak_gib": peak_gib()})

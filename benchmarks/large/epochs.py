"""One training epoch of ChebNetII and of ChebNet2D on bases, methods in turn: gather, forward, backward, Adam; no validation.

python benchmarks/large/epochs.py DIR
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chebnet2d.bases import Bases
from chebnet2d.models import on_bases
from chebnet2d.training import Batches, Run, Settings, stored_split
from chebnet2d.training.learners.stack_learner import StackLearner
from chebnet2d.training.tasks.bases import BasesSource
from measuring import command, peak_gib, record

parser = command(__doc__)
parser.add_argument("folder", type=Path)
parser.add_argument("--hidden", type=int, default=512)
parser.add_argument("--layers", type=int, default=3)
parser.add_argument("--batch", type=int, default=10_000)
parser.add_argument("--memory")
arguments = parser.parse_args()

bases = Bases.open(arguments.folder)
split = stored_split(bases)
shape: dict[str, Any] = {"hidden_channels": arguments.hidden, "num_layers": arguments.layers, "dropout": 0.5}
models = {
    "chebnetii": on_bases("chebnetii", bases, **shape),
    "chebnet2d, F x F maps": on_bases("chebnet2d", bases, maps="features", **shape),
    "chebnet2d, F x H maps": on_bases("chebnet2d", bases, maps="hidden", **shape),
}
figures: dict[str, Any] = {
    "rows": split.train.numel(),
    "batch": arguments.batch,
    "hidden": arguments.hidden,
    "layers": arguments.layers,
}
runs = {name: Run(model, split, 0, Settings.of(lr=1e-3)) for name, model in models.items()}
start = time.perf_counter()
batches = Batches(arguments.batch, memory=arguments.memory)
source = BasesSource(bases, batches, list(runs.values())[:1], torch.device("cpu"))
figures |= {"read_seconds": time.perf_counter() - start, "in_memory": source.held is not None}
tasks = {name: source.task([run]) for name, run in runs.items()}
learners = {name: StackLearner([run], 1) for name, run in runs.items()}
times: dict[str, list[float]] = {name: [] for name in runs}
for epoch in range(1, arguments.repeats + 2):  # the first is not counted
    for name, learner in learners.items():
        start = time.perf_counter()
        for rows, shards in tasks[name].training_batches(epoch):
            learner.step(tasks[name], rows, shards)
        times[name].append(time.perf_counter() - start)
medians = {name: float(np.median(seconds[1:])) for name, seconds in times.items()}
figures["epoch_seconds"] = medians
figures["over_chebnetii"] = {name: seconds / medians["chebnetii"] for name, seconds in medians.items()}
figures["parameters"] = {name: sum(p.numel() for p in model.parameters()) for name, model in models.items()}
record(arguments, "epochs", {**figures, "peak_gib": peak_gib()})

"""Epochs of one method with the shipped settings, training and validation; the first, which builds the operators, is not counted.

python benchmarks/large/one_method.py DATASET METHOD[:NODES] --root ROOT
"""

import time
from pathlib import Path
from typing import Any

import numpy as np

import chebnet2d
from chebnet2d.recipes import load_recipe
from chebnet2d.training import Batches, fit, sampling_of
from measuring import command, forget_peak, peak_gib, record

parser = command(__doc__)
parser.add_argument("dataset")
parser.add_argument("way")
parser.add_argument("--root", type=Path, required=True)
arguments = parser.parse_args()

method, _, batch = arguments.way.partition(":")
data = chebnet2d.data.load(arguments.dataset, arguments.root)
split = chebnet2d.data.split(data, "fixed", seed=0)
recipe = load_recipe(method, arguments.dataset)
model = recipe.build(data)
loaded = peak_gib()
forget_peak()
times = [time.perf_counter()]
epochs = arguments.repeats + 1
settings: dict[str, Any] = {**recipe.settings, "epochs": epochs, "patience": epochs}
size = -(-split.train.numel() // 10) if batch == "10 parts" else int(batch or 0)
batches = Batches(size) if size else None
result = fit(model, data, split, batches=batches, progress=lambda _: times.append(time.perf_counter()), **settings)
seconds = np.diff(times)
figures = {
    "dataset": arguments.dataset,
    "way": arguments.way,
    "sampling": sampling_of(model) if size else "full batch",
    "batch_size": size or data.num_nodes,
    "parameters": result.parameters,
    "first_epoch_seconds": float(seconds[0]),
    "epoch_seconds": float(np.median(seconds[1:])),
    "all_seconds": seconds.tolist(),
    "load_peak_gib": loaded,
    "peak_gib": peak_gib(),
    "train_loss": result.history.train_loss,
    "val_metric": result.val_metric,
}
record(arguments, "one-method", figures)

"""Training on bases with validation, as a user runs it.

python benchmarks/large/train.py DIR --epochs 50
"""

import time
from pathlib import Path

from chebnet2d.bases import Bases
from chebnet2d.models import on_bases
from chebnet2d.training import Batches, fit, stored_split
from measuring import command, peak_gib, record

parser = command(__doc__)
parser.add_argument("folder", type=Path)
parser.add_argument("--hidden", type=int, default=512)
parser.add_argument("--layers", type=int, default=3)
parser.add_argument("--batch", type=int, default=10_000)
parser.add_argument("--epochs", type=int, default=50)
parser.add_argument("--maps", default="features")
parser.add_argument("--methods", nargs="+", default=["chebnet2d"])
arguments = parser.parse_args()

bases = Bases.open(arguments.folder)
for method in arguments.methods:
    model = on_bases(method, bases, hidden_channels=arguments.hidden, num_layers=arguments.layers, maps=arguments.maps)
    start = time.perf_counter()
    settings = {"epochs": arguments.epochs, "patience": arguments.epochs, "lr": 1e-3}
    result = fit(model, bases, stored_split(bases), batches=Batches(arguments.batch), **settings)
    figures = {
        "method": method,
        "epochs": result.epochs,
        "seconds": time.perf_counter() - start,
        "epoch_seconds": result.seconds / result.epochs,
        "val_metric": result.val_metric,
        "test": dict(result.test),
        "parameters": result.parameters,
        "peak_gib": peak_gib(),
    }
    record(arguments, "train", figures)

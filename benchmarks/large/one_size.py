"""Precompute on a graph with average degree 50 and 32 features, degree 10: only the number of edges changes.

python benchmarks/large/one_size.py EDGES --out DIR
"""

import shutil
import time
from pathlib import Path

import numpy as np

import chebnet2d
from chebnet2d.bases import large_operator, precompute
from measuring import DEGREE, command, forget_peak, peak_gib, record

parser = command(__doc__)
parser.add_argument("edges", type=int)
parser.add_argument("--out", type=Path, required=True)
arguments = parser.parse_args()

nodes = arguments.edges // 25
data = chebnet2d.data.csbm(nodes=nodes, classes=10, features=32, homophily=0.8, degree=50, seed=0)
data.edge_index = large_operator(data.edge_index, nodes)
forget_peak()
times, written = [], 0.0
for _ in range(arguments.repeats):
    start = time.perf_counter()
    made = precompute(data, out=arguments.out / "bases", degree=DEGREE, block=32)
    times.append(time.perf_counter() - start)
    written = made.nbytes / 2**30
    shutil.rmtree(arguments.out / "bases")
figures = {"edges": arguments.edges, "nodes": nodes, "seconds": float(np.median(times)), "all_seconds": times}
record(arguments, "one-size", {**figures, "peak_gib": peak_gib(), "gib_written": written})

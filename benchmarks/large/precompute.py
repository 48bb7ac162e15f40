"""Bases on disk: time and memory of each step, and of one product against torch and scipy.

python benchmarks/large/precompute.py ogbn-products --root ROOT --out DIR [--memory 8GiB]
"""

import time
from pathlib import Path

import chebnet2d
from chebnet2d.bases import large_operator, precompute
from measuring import DEGREE, command, peak_gib, product_seconds, record

parser = command(__doc__)
parser.add_argument("dataset")
parser.add_argument("--root", type=Path, required=True)
parser.add_argument("--out", type=Path, required=True)
parser.add_argument("--memory")
parser.add_argument("--block", type=int)
parser.add_argument("--dtype", default="float32")
parser.add_argument("--rows", default="labelled")
arguments = parser.parse_args()

start = time.perf_counter()
data = chebnet2d.data.load(arguments.dataset, arguments.root)
loaded = time.perf_counter()
data.edge_index = large_operator(data.edge_index, data.num_nodes)
built = time.perf_counter()
spec = {"degree": DEGREE, "dtype": arguments.dtype, "rows": arguments.rows}
made = precompute(data, out=arguments.out, memory=arguments.memory, block=arguments.block, **spec)
done = time.perf_counter()
blocks = made.manifest.blocks
figures = {
    "dataset": arguments.dataset,
    "nodes": made.num_nodes,
    "entries": data.edge_index.nnz,
    "features": made.num_features,
    "degree": DEGREE,
    "dtype": arguments.dtype,
    "memory": arguments.memory,
    "blocks": blocks,
    "load_seconds": loaded - start,
    "operator_seconds": built - loaded,
    "precompute_seconds": done - built,
    "gib_written": made.nbytes / 2**30,
    "peak_gib": peak_gib(),
}
width = max(stop - start for start, stop in blocks)
figures |= {"width": width, **product_seconds(data.edge_index, width, arguments.repeats)}
record(arguments, "precompute", figures)

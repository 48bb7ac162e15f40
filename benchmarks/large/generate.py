"""A random graph with the size of a large dataset, in its raw format.

python benchmarks/large/generate.py ogbn-products --root ROOT
"""

import time
from pathlib import Path

import chebnet2d
from chebnet2d.data.generated import generate
from measuring import command, peak_gib, record

parser = command(__doc__)
parser.add_argument("like")
parser.add_argument("--root", type=Path, required=True)
parser.add_argument("--scale", type=float, default=1.0)
parser.add_argument("--model", default="power-law")
arguments = parser.parse_args()

start = time.perf_counter()
options = {"scale": arguments.scale, "model": arguments.model}
folder = generate(arguments.like, arguments.root, progress=lambda text: print(text, flush=True), **options)
size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
seconds = time.perf_counter() - start
written = {"like": arguments.like, "seconds": seconds, "bytes": size, "peak_gib": peak_gib()}
start = time.perf_counter()
data = chebnet2d.data.load(arguments.like, arguments.root)
counts = {"nodes": data.num_nodes, "edges": data.num_edges // 2, "load_seconds": time.perf_counter() - start}
record(arguments, "generate", {**written, **counts, "load_peak_gib": peak_gib()})

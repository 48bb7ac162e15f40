"""Files by tiles, by rows and by degrees: write the terms degree by degree, and read batches of random rows.

python benchmarks/large/layout.py --out DIR
"""

import time
from pathlib import Path
from typing import Any

import numpy as np

from measuring import DEGREE, command, record

parser = command(__doc__)
parser.add_argument("--out", type=Path, required=True)
parser.add_argument("--rows", type=int, default=500_000)
arguments = parser.parse_args()

terms, columns, tile = DEGREE + 1, 64, 256
nodes = arguments.rows - arguments.rows % tile
x = np.random.default_rng(0).standard_normal((nodes, columns), dtype=np.float32)
rng = np.random.default_rng(1)
batches = [rng.integers(0, nodes, 10_000) for _ in range(5)]
shapes = {
    "tiles": (nodes // tile, terms, tile, columns),
    "rows": (nodes, terms, columns),
    "degrees": (terms, nodes, columns),
}


def gather(name: str, array: Any, rows: Any) -> Any:
    if name == "tiles":
        return array[rows // tile, :, rows % tile]
    return array[rows] if name == "rows" else array[:, rows]


figures = {}
arguments.out.mkdir(parents=True, exist_ok=True)
for name, shape in shapes.items():
    path = arguments.out / f"{name}.npy"
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    start = time.perf_counter()
    for d in range(terms):
        if name == "tiles":
            array[:, d] = x.reshape(-1, tile, columns)
        elif name == "rows":
            array[:, d] = x
        else:
            array[d] = x
    array.flush()
    write = time.perf_counter() - start
    start = time.perf_counter()
    for rows in batches:
        gather(name, array, rows)
    read = (time.perf_counter() - start) / len(batches)
    figures[name] = {"write_seconds": write, "read_batch_seconds": read}
    print(name, figures[name], flush=True)
    del array
    path.unlink()
record(arguments, "layout", {"rows": nodes, "columns": columns, "layouts": figures})

"""Whether an order of the nodes pays: a product as generated, with nodes by degree, and after reverse Cuthill-McKee.

python benchmarks/large/reorder.py ogbn-products --root ROOT
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse.csgraph
import torch

import chebnet2d
from chebnet2d.bases import large_operator
from chebnet2d.bases.recurrence import large_step
from chebnet2d.graph import SparseOperator
from measuring import command, record

parser = command(__doc__)
parser.add_argument("dataset")
parser.add_argument("--root", type=Path, required=True)
parser.add_argument("--width", type=int, default=64)
arguments = parser.parse_args()

data = chebnet2d.data.load(arguments.dataset, arguments.root)
operator = large_operator(data.edge_index, data.num_nodes)
matrix = operator.to_scipy()
del data
figures: dict[str, Any] = {}


def measure(name: str, order: Any) -> None:
    start = time.perf_counter()
    permuted = operator
    if order is not None:
        permuted = SparseOperator.from_scipy(matrix[order][:, order], symmetric=True)
    spent = time.perf_counter() - start
    x = torch.randn(matrix.shape[0], arguments.width)
    out = torch.zeros_like(x)
    times = []
    for _ in range(arguments.repeats):
        start = time.perf_counter()
        large_step(permuted, x, out)
        times.append(time.perf_counter() - start)
    figures[name] = {"product_seconds": float(np.median(times)), "reorder_seconds": spent}
    print(name, figures[name], flush=True)


measure("as it is", None)
measure("by degree", np.argsort(-np.diff(matrix.indptr), kind="stable"))
start = time.perf_counter()
order = scipy.sparse.csgraph.reverse_cuthill_mckee(scipy.sparse.csr_matrix(matrix), symmetric_mode=True)
spent = time.perf_counter() - start
measure("reverse Cuthill-McKee", order)
figures["reverse Cuthill-McKee"]["reorder_seconds"] += spent
record(arguments, "reorder", {"dataset": arguments.dataset, "width": arguments.width, "orders": figures})

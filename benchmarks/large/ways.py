"""The costs by which ``train`` chooses between the whole graph and bases on disk, measured: constants of ``recipes/ways.py``.

python benchmarks/large/ways.py                       # nothing else running; prints the constants as they are typed there
python benchmarks/large/ways.py --nodes 200000        # smaller, to see that it runs

_MULTIPLY   seconds of one multiplication of a product of dense matrices, rows x 64 by 64 x 64
_HIDDEN     seconds of one number of a hidden layer in training: linear map, ReLU and dropout, forward and back, less its products
_NEAR       seconds of one row that a sparse product reads, where the rows fit the cache
_FAR        the same where they do not
_ENTRY      bytes at the peak of an entry of the operator, while ``operator_of`` builds it from a list of edges
_LIBRARIES  bytes that a first training adds to a process that has imported the package
"""

import time
from collections.abc import Callable
from typing import Any

import torch

import chebnet2d
from chebnet2d._sizes import resident_bytes
from chebnet2d.graph import operator_of
from measuring import command, forget_peak, peak_gib, record

WIDTH = 16  # numbers of a row that a sparse product reads: a line of the cache
HIDDEN = 64
DEGREE = 10
SMALL = 4_000  # nodes whose rows of 16 numbers fit the cache

parser = command(__doc__)
parser.add_argument("--nodes", type=int, default=2_000_000)
arguments = parser.parse_args()
torch.set_num_threads(1)


def seconds(work: Callable[[], Any]) -> float:
    """The least of some, after one that is not counted: what disturbs makes it longer, never shorter."""
    work()
    times = []
    for _ in range(max(3, arguments.repeats)):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def libraries() -> int:
    data = chebnet2d.data.load("csbm", nodes=200, features=8)
    before = resident_bytes()
    chebnet2d.fit(chebnet2d.ChebNet2D(8, 3, degree=2, hidden_channels=8), data, chebnet2d.data.split(data, "uniform"), epochs=2)
    return resident_bytes() - before


def edges_of(nodes: int) -> torch.Tensor:
    return torch.randint(0, nodes, (2, nodes * DEGREE // 2))


def row_seconds(nodes: int) -> float:
    operator = operator_of(edges_of(nodes), None, torch.zeros(nodes, 1), owner="ways")
    x = torch.randn(nodes, WIDTH)
    return seconds(lambda: operator @ x) / operator.nnz


def entry_bytes(nodes: int) -> float:
    edges = edges_of(nodes)
    forget_peak()
    before = peak_gib()
    operator = operator_of(edges, None, torch.zeros(nodes, 1), owner="ways")
    return (peak_gib() - before) * 2**30 / operator.nnz


def dense() -> tuple[float, float]:
    """Of a multiplication, and of a hidden number beyond its multiplications."""
    rows = arguments.nodes // 10
    x, w = torch.randn(rows, HIDDEN), torch.randn(HIDDEN, HIDDEN)
    multiply = seconds(lambda: x @ w) / (rows * HIDDEN**2)
    layer = torch.nn.Sequential(torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(), chebnet2d.nn.Dropout(0.5))
    grown = x.clone().requires_grad_()

    def step() -> None:
        layer(grown).sum().backward()

    return multiply, max(0.0, seconds(step) / (rows * HIDDEN) - 3 * HIDDEN * multiply)


first = libraries()
multiply, hidden = dense()
record(
    arguments,
    "ways",
    {
        "nodes": arguments.nodes,
        "_MULTIPLY": float(f"{multiply:.3g}"),
        "_HIDDEN": float(f"{hidden:.3g}"),
        "_NEAR": float(f"{row_seconds(SMALL):.3g}"),
        "_FAR": float(f"{row_seconds(arguments.nodes):.3g}"),
        "_ENTRY": round(entry_bytes(arguments.nodes)),
        "_LIBRARIES": first,
    },
)

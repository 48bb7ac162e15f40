"""Bases of a changed graph, extended against computed anew, by the share of the work that a change reaches.

python benchmarks/large/extend.py --out DIR                       # nothing else running
python benchmarks/large/extend.py --out DIR --nodes 20000         # smaller, to see that it runs

Nodes lie on a ring, each with edges to the five nearest on both sides. Other features are given to nodes side by side
("together") or at equal distances ("spread"), as many as the share asks for. ``seconds`` are of ``extend`` with its reading and
comparing, ``over_anew`` those over the seconds of ``precompute``, both medians, in turn. Below 1, extending pays.
"""

import shutil
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data

from chebnet2d.bases import extend, large_operator, precompute
from measuring import DEGREE, command, record

SHARES = (0.02, 0.1, 0.25, 0.5, 0.75)
SIDE = 5

parser = command(__doc__)
parser.add_argument("--nodes", type=int, default=1_000_000)
parser.add_argument("--features", type=int, default=64)
parser.add_argument("--out", type=Path, required=True)
arguments = parser.parse_args()
sys.modules["chebnet2d.bases.extend"].MOST = 1.0  # type: ignore[attr-defined]


def graph_of(x: torch.Tensor) -> Data:
    return Data(x=x, edge_index=operator, num_nodes=nodes, node_ids=np.arange(nodes))


def in_turn(after: torch.Tensor) -> tuple[float, float, float]:
    """The share of the work, and seconds of both ways to the bases of other features."""
    extended, anew = arguments.out / "extended", arguments.out / "anew"
    shares, times = [], []
    for _ in range(arguments.repeats):
        shutil.rmtree(extended, ignore_errors=True)
        shutil.rmtree(anew, ignore_errors=True)
        start = time.perf_counter()
        shares.append(extend(known, graph_of(after), out=extended).share)
        middle = time.perf_counter()
        precompute(graph_of(after), out=anew, degree=DEGREE, rows="all")
        times.append((middle - start, time.perf_counter() - middle))
    first, second = np.median(times, axis=0)
    return shares[0], float(first), float(second)


nodes = arguments.nodes
own = torch.arange(nodes)
ends = torch.cat([torch.stack([own, (own + k) % nodes]) for k in range(1, SIDE + 1)], dim=1)
operator = large_operator(torch.cat([ends, ends.flip(0)], dim=1), nodes)
x = torch.randn(nodes, arguments.features, generator=torch.Generator().manual_seed(0))
shutil.rmtree(arguments.out / "known", ignore_errors=True)
known = precompute(graph_of(x), out=arguments.out / "known", degree=DEGREE, rows="all")
lines = []
for how in ("together", "spread"):
    for share in SHARES:
        reached = 2 * SIDE * DEGREE  # nodes around one, at the last degree; half of that on average over degrees
        changed = own[: int(share * nodes)] if how == "together" else own[:: max(1, int(reached / 2 / share))]
        after = x.clone()
        after[changed] += 1
        reached_share, spent, whole = in_turn(after)
        line = {"how": how, "share": reached_share, "seconds": spent, "over_anew": spent / whole}
        print(line, flush=True)
        lines.append(line)
record(arguments, "extend", {"nodes": nodes, "features": arguments.features, "lines": lines})

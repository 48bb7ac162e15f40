"""Precompute against the number of edges: 1, 4, 16 and 64 million, each in a process of its own.

python benchmarks/large/scaling.py --out DIR [--plot FILE]
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from measuring import command, own_process, record


def _plot(path: Path, rows: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    edges = np.array([row["edges"] for row in rows]) / 1e6
    for axis, key, label in zip(
        axes, ("seconds", "peak_gib"), ("time of precompute, s", "peak resident memory, GiB"), strict=True
    ):
        values = np.array([row[key] for row in rows])
        slope, constant = np.polyfit(edges, values, 1)
        axis.plot(edges, values, "o", label="measured")
        axis.plot(edges, constant + slope * edges, "--", color="grey", label=f"{constant:.2g} + {slope:.2g} per million edges")
        axis.set_xlabel("edges, millions")
        axis.set_ylabel(label)
        axis.set_xticks(edges, [f"{value:g}" for value in edges])
        axis.set_ylim(bottom=0)
        axis.legend()
    figure.savefig(path, dpi=120)


parser = command(__doc__)
parser.add_argument("--millions", type=float, nargs="+", default=[1, 4, 16, 64])
parser.add_argument("--out", type=Path, required=True)
parser.add_argument("--plot", type=Path)
arguments = parser.parse_args()

rows = []
one_size = Path(__file__).with_name("one_size.py")
for millions in arguments.millions:
    answer = own_process(one_size, int(millions * 10**6), "--out", arguments.out, "--repeats", arguments.repeats)
    answer.check_returncode()
    rows.append(json.loads(answer.stdout))
    print({key: rows[-1][key] for key in ("edges", "seconds", "peak_gib")}, flush=True)
edges = np.array([row["edges"] for row in rows], dtype=float)
exponents = {}
for key in ("seconds", "peak_gib"):
    values = np.array([row[key] for row in rows])
    # The exponent of a power law: 1 is linear. Memory has a constant part, the libraries, and lies below; time lies above as
    # long as the columns of a block leave the cache.
    exponents[key] = float(np.polyfit(np.log(edges), np.log(values), 1)[0]) if len(rows) > 1 else None
    step = np.log(values[1:] / values[:-1]) / np.log(edges[1:] / edges[:-1])
    exponents[f"{key}_last_step"] = float(step[-1]) if len(rows) > 1 else None
record(arguments, "scaling", {"sizes": rows, "exponents": exponents})
if arguments.plot:
    _plot(arguments.plot, rows)

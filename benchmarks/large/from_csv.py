"""From CSV files to predictions by two commands, as a user types them: seconds and peak memory of each.

python benchmarks/large/from_csv.py --edges 10000000            # bar: 180 s and 4 GiB for both together
python benchmarks/large/from_csv.py --like ogbn-products        # nodes, edges, features and classes of it; bar: 16 GiB

The files are written first, to a temporary folder (``--out`` keeps them): nodes.csv with an id, numbers and a label that a tenth
of the nodes lack, edges.csv with two ids in no order. ``copy_gib_per_second`` is what a copy of memory reaches in the same run.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from chebnet2d.data.generated import LIKE, shape_of
from measuring import command, copy_gib_per_second, record

_CHUNK = 2_000_000  # lines of the edge list that are made at a time
_NOISE = 4.0

parser = command(__doc__)
parser.add_argument("--edges", type=int, default=10_000_000)
parser.add_argument("--features", type=int, default=16)
parser.add_argument("--classes", type=int, default=5)
parser.add_argument("--like", choices=LIKE, help="sizes of this dataset instead")
parser.add_argument("--memory", help="handed on to both commands")
parser.add_argument("--flags", default="", help="more flags of train, as one text")
parser.add_argument("--out", type=Path)
arguments = parser.parse_args()


def write_graph(folder: Path, nodes: int, edges: int, features: int, classes: int) -> None:
    """Half of the edges are within a class on purpose, the others between any nodes; features are the class and noise."""
    random = np.random.default_rng(0)
    labels = random.integers(0, classes, nodes)
    centres = random.standard_normal((classes, features))
    words = np.array([f"class {c}" for c in range(classes)], dtype=object)[labels]
    words[random.random(nodes) < 0.1] = None
    columns: dict[str, Any] = {"id": np.arange(nodes), "label": pa.array(words)}
    for f in range(features):
        columns[f"f{f}"] = np.round(centres[labels, f] + _NOISE * random.standard_normal(nodes), 4).astype(np.float32)
    folder.mkdir(parents=True, exist_ok=True)
    pyarrow.csv.write_csv(pa.table(columns), folder / "nodes.csv")
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(classes + 1))
    schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    with pyarrow.csv.CSVWriter(folder / "edges.csv", schema) as writer:
        for first in range(0, edges, _CHUNK):
            source = random.integers(0, nodes, min(_CHUNK, edges - first))
            own = labels[source]
            within = order[(starts[own] + random.random(source.size) * (starts[own + 1] - starts[own])).astype(np.int64)]
            target = np.where(random.random(source.size) < 0.5, within, random.integers(0, nodes, source.size))
            writer.write_table(pa.table({"source": source, "target": target}, schema))


def run(*words: object) -> dict[str, Any]:
    """One command in a process of its own: seconds and peak. What it says is printed as it is."""
    code = "import sys; from chebnet2d.cli import main\ntry: main()\nfinally: sys.stderr.write(open('/proc/self/status').read())"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    print(done.stdout, *(line for line in done.stderr.splitlines() if not re.match(r"\w+:\t", line)), sep="\n", flush=True)
    peak = re.search(r"VmHWM:\s+(\d+)", done.stderr)
    if done.returncode or peak is None:
        raise SystemExit(done.stderr[-2000:])
    return {"seconds": round(seconds, 1), "peak_gib": round(int(peak.group(1)) / 2**20, 2)}


def main(folder: Path) -> None:
    edges, features, classes, nodes = arguments.edges, arguments.features, arguments.classes, arguments.edges // 10
    if arguments.like is not None:
        shape = shape_of(arguments.like)
        nodes, edges, features, classes = shape.nodes, shape.edges, shape.features, shape.classes
    graph, model, out = folder / "graph", folder / "model", folder / "predictions.parquet"
    if not (graph / "edges.csv").is_file():
        write_graph(graph, nodes, edges, features, classes)
    limit = [] if arguments.memory is None else ["--memory", arguments.memory]
    trained = run("train", graph, "--save", model, *limit, *arguments.flags.split())
    predicted = run("predict", model, graph, "--out", out, "--force", *limit)
    table = pyarrow.parquet.read_table(out, columns=["label", "given_label", "part"])
    test = table.filter(pa.compute.equal(table["part"], "test"))
    figures = {
        "nodes": nodes,
        "edges": edges,
        "features": features,
        "file_gib": round(sum(path.stat().st_size for path in graph.iterdir()) / 2**30, 2),
        "train": trained,
        "predict": predicted,
        "seconds": round(trained["seconds"] + predicted["seconds"], 1),
        "peak_gib": max(trained["peak_gib"], predicted["peak_gib"]),
        "rows": table.num_rows,
        "test_accuracy": pa.compute.mean(pa.compute.equal(test["label"], test["given_label"])).as_py(),
        "copy_gib_per_second": round(copy_gib_per_second(), 2),
    }
    record(arguments, "from_csv", figures)


if arguments.out is not None:
    main(arguments.out)
else:
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))

"""How long an edge list takes to become a graph: ids are mapped to node numbers, weights are checked.

    python benchmarks/read_edges.py                    # 10 million edges among 1 million nodes
    python benchmarks/read_edges.py --edges 1000000

Each file is written to a temporary folder and read once; the clock runs for ``read_graph`` alone. ``identity`` features cost
next to nothing, so that the time is that of the edges. The last column repeats the reading with a bad weight in the last
line, where the error has to find its line in a second pass.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from chebnet2d import InputError
from chebnet2d.data.own_graph import read_graph


def tables(edges: int, nodes: int) -> dict[str, pa.Table]:
    random = np.random.default_rng(0)
    source, target = random.integers(0, nodes, edges), random.integers(0, nodes, edges)
    names = pa.array([f"user-{i * 7919 % nodes:07d}" for i in range(nodes)])
    weight = np.round(random.random(edges), 4)
    return {
        "integer ids": pa.table({"source": source, "target": target, "weight": weight}),
        "string ids": pa.table(
            {"source": names.take(pa.array(source)), "target": names.take(pa.array(target)), "weight": weight}
        ),
    }


def seconds(path: Path) -> float:
    start = time.perf_counter()
    read_graph(path, features="identity")
    return time.perf_counter() - start


def seconds_to_error(path: Path) -> float:
    with path.open("a") as file:
        file.write("1,2,abc\n")
    start = time.perf_counter()
    try:
        read_graph(path, features="identity")
    except InputError:
        return time.perf_counter() - start
    raise AssertionError("the bad line was not found")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    arguments = parser.parse_args()
    print(f"{arguments.edges:,} edges, {arguments.nodes:,} nodes, pyarrow {pa.__version__}, {pa.cpu_count()} threads")
    print(f"{'file':<24}{'MB':>8}{'seconds':>10}{'M edges/s':>12}{'bad last line, s':>18}")
    with tempfile.TemporaryDirectory() as folder:
        for name, table in tables(arguments.edges, arguments.nodes).items():
            for suffix in ("csv", "parquet"):
                path = Path(folder) / f"edges.{suffix}"
                if suffix == "csv":
                    pa.csv.write_csv(table, path)
                else:
                    pa.parquet.write_table(table, path)
                size, took = path.stat().st_size / 1e6, seconds(path)
                error = f"{seconds_to_error(path):.1f}" if suffix == "csv" else ""
                print(f"{name + ', ' + suffix:<24}{size:>8.0f}{took:>10.1f}{arguments.edges / took / 1e6:>12.2f}{error:>18}")
                path.unlink()
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")


if __name__ == "__main__":
    main()

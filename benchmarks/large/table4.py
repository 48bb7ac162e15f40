"""Table 4 with its anchor: the lines of ``chebnet2d study run --table 4``, and beside them ChebNetII's published loop.

python benchmarks/large/table4.py --out DIR                                       # nothing else running; hours
python benchmarks/large/table4.py --out DIR --datasets penn94 --epochs 2          # one graph
python benchmarks/large/table4.py --out DIR --scale 0.01 --epochs 1               # to see that it runs

Graphs that are not below --root are generated at the size of the originals below --out, which keeps them and the bases.
"""

from dataclasses import asdict
from pathlib import Path

from chebnet2d.cluster import ProcessExecutor
from chebnet2d.data import available
from chebnet2d.reports.timings import DATASETS, METHODS, Timing, format_timings, table4
from chebnetii_loop import NAME, measure
from measuring import command, record

parser = command(__doc__)
parser.add_argument("--out", type=Path, required=True)
parser.add_argument("--root", type=Path)
parser.add_argument("--datasets", nargs="+", default=DATASETS)
parser.add_argument("--methods", nargs="+", default=METHODS)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--scale", type=float, default=1.0)


def anchor(dataset: str, folder: Path, root: Path | None, epochs: int) -> Timing:
    """After the other lines of this graph, which have generated it."""
    source = root if root is not None and dataset in available(root) else folder / "data"
    arguments = (dataset, source, 1 if dataset == "ogbn-products" else epochs)
    ((_, line),) = ProcessExecutor(1).run(measure, [(f"{NAME} on {dataset}", arguments)])
    return line


def main() -> None:
    arguments = parser.parse_args()
    lines: list[Timing] = []
    for dataset in arguments.datasets:
        options = {"epochs": arguments.epochs, "root": arguments.root, "methods": arguments.methods, "scale": arguments.scale}
        lines += table4(arguments.out, datasets=(dataset,), **options)
        lines.append(anchor(dataset, arguments.out, arguments.root, arguments.epochs))
        print(format_timings(lines[-1 - len(arguments.methods) :]), flush=True)
    print(format_timings(lines))
    record(arguments, "table4", {"lines": [asdict(line) for line in lines]})


if __name__ == "__main__":
    main()

"""An epoch of the methods that need the graph, each line in a process of its own.

python benchmarks/large/methods.py DATASET ... --root ROOT
"""

import json
from pathlib import Path

from measuring import command, own_process, record

parser = command(__doc__)
parser.add_argument("datasets", nargs="+")
parser.add_argument("--root", type=Path, required=True)
ways = ["gcn", "gcn:10000", "linkx", "linkx:10 parts", "glognn", "nodeformer:10000"]
parser.add_argument("--ways", nargs="+", default=ways, help="METHOD, METHOD:NODES or METHOD:10 parts")
arguments = parser.parse_args()

rows = []
one_method = Path(__file__).with_name("one_method.py")
for dataset in arguments.datasets:
    for way in arguments.ways:
        answer = own_process(one_method, dataset, way, "--root", arguments.root, "--repeats", arguments.repeats)
        if answer.returncode:
            print(f"{dataset}, {way}: exit code {answer.returncode}: {answer.stderr.strip().splitlines()[-1:]}", flush=True)
            continue
        rows.append(json.loads(answer.stdout))
        shown = ("dataset", "way", "sampling", "epoch_seconds", "peak_gib", "cores_of_others")
        print({key: rows[-1][key] for key in shown}, flush=True)
record(arguments, "methods", {"lines": rows})

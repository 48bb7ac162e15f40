"""One sparse product: ours, torch's and scipy's.

python benchmarks/large/product.py ogbn-products --root ROOT
"""

from pathlib import Path

import chebnet2d
from chebnet2d.bases import large_operator
from measuring import command, product_seconds, record

parser = command(__doc__)
parser.add_argument("dataset")
parser.add_argument("--root", type=Path, required=True)
parser.add_argument("--widths", type=int, nargs="+", default=[16, 32, 64])
arguments = parser.parse_args()

data = chebnet2d.data.load(arguments.dataset, arguments.root)
operator = large_operator(data.edge_index, data.num_nodes)
del data
for width in arguments.widths:
    figures = {"dataset": arguments.dataset, "width": width, **product_seconds(operator, width, arguments.repeats)}
    record(arguments, "product", figures)

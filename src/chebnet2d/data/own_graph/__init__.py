"""The user's own graph: read from tables, arrays, GraphML or networkx, kept in a file that holds no code."""

from chebnet2d.data.own_graph.arrow_tables import from_tables
from chebnet2d.data.own_graph.folder import EDGES, FEATURES, LABELS, is_graph_path
from chebnet2d.data.own_graph.networkx_graph import from_networkx, to_networkx
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.pyg_graph import from_pyg
from chebnet2d.data.own_graph.reading import read_graph
from chebnet2d.data.own_graph.scipy_graph import from_scipy, to_scipy
from chebnet2d.data.own_graph.writing import write_graph
from chebnet2d.preparation import MADE_FEATURES

__all__ = [
    "EDGES",
    "FEATURES",
    "LABELS",
    "MADE_FEATURES",
    "ReadOptions",
    "from_networkx",
    "from_pyg",
    "from_scipy",
    "from_tables",
    "is_graph_path",
    "read_graph",
    "to_networkx",
    "to_scipy",
    "write_graph",
]

"""The user's own graph: read from tables, arrays, GraphML or networkx, kept in a file that holds no code."""

from chebnet2d.data.own_graph.assemble import MADE_FEATURES
from chebnet2d.data.own_graph.folder import EDGES, FEATURES, LABELS, is_graph_path
from chebnet2d.data.own_graph.networkx_graph import from_networkx
from chebnet2d.data.own_graph.options import ReadOptions
from chebnet2d.data.own_graph.reading import read_graph
from chebnet2d.data.own_graph.writing import write_graph

__all__ = [
    "EDGES",
    "FEATURES",
    "LABELS",
    "MADE_FEATURES",
    "ReadOptions",
    "from_networkx",
    "is_graph_path",
    "read_graph",
    "write_graph",
]

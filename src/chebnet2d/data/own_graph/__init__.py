"""The user's own graph: read from tables, arrays, GraphML or networkx, kept in a file that holds no code."""

from chebnet2d.data.own_graph.folder import is_graph_path
from chebnet2d.data.own_graph.networkx_graph import from_networkx
from chebnet2d.data.own_graph.read_graph import read_graph
from chebnet2d.data.own_graph.saved_graph import write_graph

__all__ = ["from_networkx", "is_graph_path", "read_graph", "write_graph"]

"""What a graph with features must have for models and training: a small part of what torch_geometric's ``Data`` has."""

from typing import Protocol

from torch import Tensor

from chebnet2d.graph.operator_cache import Graph
from chebnet2d.graph.sparse_operator import SparseOperator


class GraphData(Protocol):
    """x: N x F features. edge_index: the graph. y: N class indices (-1 = unlabelled), or None.

    ``edge_weight`` is an attribute only of graphs that have weights: read it by ``edge_weight_of``.
    """

    @property
    def x(self) -> Tensor | SparseOperator | None: ...
    @property
    def edge_index(self) -> Graph: ...
    @property
    def y(self) -> Tensor | None: ...
    @property
    def num_nodes(self) -> int | None: ...
    @property
    def num_features(self) -> int: ...


def edge_weight_of(data: GraphData) -> Tensor | None:
    """One number for each of the E edges, or None."""
    return getattr(data, "edge_weight", None)

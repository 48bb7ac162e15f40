"""Sparse operators, Laplacians and the graph Fourier transform: matrices without anything that is learned."""

from chebnet2d.graph.adjacency import adjacency
from chebnet2d.graph.graph_data import GraphData, edge_weight_of
from chebnet2d.graph.laplacian import laplacian, normalized_adjacency, row_stochastic_adjacency, shifted_laplacian
from chebnet2d.graph.operator_cache import Graph, derived_operator, operator_of, remembered
from chebnet2d.graph.sparse_operator import SparseOperator
from chebnet2d.graph.spectrum import Spectrum

__all__ = [
    "Graph",
    "GraphData",
    "SparseOperator",
    "Spectrum",
    "adjacency",
    "derived_operator",
    "edge_weight_of",
    "laplacian",
    "normalized_adjacency",
    "operator_of",
    "remembered",
    "row_stochastic_adjacency",
    "shifted_laplacian",
]

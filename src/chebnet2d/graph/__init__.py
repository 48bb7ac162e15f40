"""Sparse operators, Laplacians and the graph Fourier transform: matrices without anything that is learned."""

from chebnet2d.graph.adjacency import DIRECTED, DirectedGraphWarning, adjacency
from chebnet2d.graph.graph_data import GraphData, edge_weight_of
from chebnet2d.graph.laplacian import laplacian, mean_adjacency, normalized_adjacency, row_stochastic_adjacency, shifted_laplacian
from chebnet2d.graph.learned_operator import LearnedOperator, learnable_operator_of
from chebnet2d.graph.operator_cache import Graph, derived_operator, operator_of, refuse_export, remembered
from chebnet2d.graph.sparse_operator import SparseOperator
from chebnet2d.graph.spectrum import Spectrum, kept_spectrum

__all__ = [
    "DIRECTED",
    "DirectedGraphWarning",
    "Graph",
    "GraphData",
    "LearnedOperator",
    "SparseOperator",
    "Spectrum",
    "adjacency",
    "derived_operator",
    "edge_weight_of",
    "kept_spectrum",
    "laplacian",
    "learnable_operator_of",
    "mean_adjacency",
    "normalized_adjacency",
    "operator_of",
    "refuse_export",
    "remembered",
    "row_stochastic_adjacency",
    "shifted_laplacian",
]

"""From an edge list to the one adjacency matrix that everything else is made of."""

from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d._checks import InputError, fail, integer, one_of
from chebnet2d.graph.sparse_operator import SparseOperator


def adjacency(
    edge_index: Any,
    edge_weight: Any = None,
    num_nodes: int | None = None,
    *,
    directed: str = "symmetrise",
    self_loops: str = "remove",
    duplicates: str = "merge",
    isolated: str = "allow",
    dtype: torch.dtype = torch.float64,
) -> SparseOperator:
    """The symmetric adjacency matrix of an edge list, without self loops.

    What is done to an edge list, in this order, and how to refuse it instead:

    - ``duplicates``: an edge (i, j) that is listed more than once has the sum of its weights ("merge"), or is
      an error ("refuse"). (i, j) and (j, i) are the two directions of an edge, not duplicates.
    - ``self_loops``: (i, i) is dropped ("remove"), or is an error ("refuse").
    - ``directed``: where the weights of (i, j) and (j, i) differ, the larger one holds for both ("symmetrise"),
      so that a graph listed in one direction becomes the undirected one; or that is an error ("refuse").
    - ``isolated``: nodes without an edge are kept and have an empty row ("allow"), or are an error ("refuse").
      Edges of weight 0 are no edges.

    Args:
        edge_index: 2 x E integers, tensor or array.
        edge_weight: E finite numbers >= 0; all 1 by default.
        num_nodes: N; by default the largest index + 1.
    """
    owner = "adjacency"
    one_of(owner, "directed", directed, ("symmetrise", "refuse"))
    one_of(owner, "self_loops", self_loops, ("remove", "refuse"))
    one_of(owner, "duplicates", duplicates, ("merge", "refuse"))
    one_of(owner, "isolated", isolated, ("allow", "refuse"))
    index = _checked_index(edge_index)
    nodes = int(index.max()) + 1 if index.size else 0
    if num_nodes is not None:
        integer(owner, "num_nodes", num_nodes, 0)
        if nodes > num_nodes:
            raise InputError(f"{owner}: edge_index must be below num_nodes = {num_nodes}, got {nodes - 1}.")
        nodes = num_nodes
    weight = _checked_weight(edge_weight, index.shape[1])

    matrix = scipy.sparse.coo_array((weight, (index[0], index[1])), shape=(nodes, nodes)).tocsr()
    if duplicates == "refuse" and matrix.nnz < index.shape[1]:
        raise InputError(
            f"{owner}: edge_index must list each edge once (duplicates='refuse'), got {index.shape[1] - matrix.nnz} repetitions."
        )
    loops = index[0] == index[1]
    if loops.any():
        if self_loops == "refuse":
            node = int(index[0][loops][0])
            raise InputError(
                f"{owner}: edge_index must have no self loops (self_loops='refuse'), "
                f"got {int(loops.sum())}, the first at node {node}."
            )
        matrix = matrix - scipy.sparse.diags_array(matrix.diagonal())
    matrix = scipy.sparse.csr_array(matrix)
    matrix.eliminate_zeros()
    # Larger of the two directions: an undirected graph keeps its weights, a directed one gets both directions.
    symmetric = scipy.sparse.csr_array(matrix.maximum(matrix.T))
    if directed == "refuse" and (symmetric != matrix).nnz:
        row, col = (symmetric != matrix).nonzero()
        raise InputError(
            f"{owner}: edge_index must hold both directions of every edge with equal weights "
            f"(directed='refuse'), but ({int(row[0])}, {int(col[0])}) and ({int(col[0])}, {int(row[0])}) differ."
        )
    if isolated == "refuse":
        empty = np.flatnonzero(np.diff(symmetric.indptr) == 0)
        if empty.size:
            raise InputError(
                f"{owner}: every node must have an edge (isolated='refuse'), "
                f"got {empty.size} isolated nodes, the first is {int(empty[0])}."
            )
    return SparseOperator.from_scipy(symmetric, dtype=dtype, symmetric=True)


def _checked_index(edge_index: Any) -> Any:
    rule = "2 x E integers"
    if isinstance(edge_index, Tensor):
        if edge_index.layout != torch.strided:
            raise fail("adjacency", "edge_index", rule, edge_index, "Pass a sparse tensor where a graph is asked for.")
        edge_index = edge_index.detach().cpu().numpy()
    try:
        index = np.asarray(edge_index)
    except ValueError:
        raise fail("adjacency", "edge_index", rule, edge_index) from None
    if index.ndim != 2 or index.shape[0] != 2:
        hint = "Transpose it?" if index.ndim == 2 and index.shape[1] == 2 else ""
        raise fail("adjacency", "edge_index", rule, index, hint)
    if index.size and not np.issubdtype(index.dtype, np.integer):
        raise InputError(f"adjacency: edge_index must be {rule}, got dtype {index.dtype}.")
    if index.size and index.min() < 0:
        raise InputError(f"adjacency: edge_index must be >= 0, got {int(index.min())}.")
    return index.astype(np.int64, copy=False)


def _checked_weight(edge_weight: Any, edges: int) -> Any:
    if edge_weight is None:
        return np.ones(edges)
    rule = "finite numbers >= 0"
    if isinstance(edge_weight, Tensor):
        if edge_weight.requires_grad:
            raise InputError(
                "adjacency: edge_weight must not require a gradient, got requires_grad=True. "
                "Weights are constants here; pass edge_weight.detach()."
            )
        edge_weight = edge_weight.cpu().numpy()
    try:
        weight = np.asarray(edge_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise fail("adjacency", "edge_weight", rule, edge_weight) from None
    if weight.ndim == 2 and weight.shape[1] == 1:
        weight = weight[:, 0]
    if weight.shape != (edges,):
        raise InputError(f"adjacency: edge_weight must have one number for each of the {edges} edges, got shape {weight.shape}.")
    bad = ~np.isfinite(weight) | (weight < 0)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise InputError(f"adjacency: edge_weight must be {rule}, got {weight[first]} at edge {first}.")
    return weight

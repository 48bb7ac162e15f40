"""From an edge list to the adjacency matrix that all operators are computed from."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.graph.sparse_operator import SparseOperator

DIRECTED = ("warn", "symmetrise", "refuse")


class DirectedGraphWarning(UserWarning):
    """A directed graph was made undirected without being asked to."""


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
    """The symmetric N x N adjacency matrix of an edge list, without self loops.

    An edge list is repaired in this order; each repair can be made an error instead ("refuse"):

    - ``duplicates``: an edge (i, j) that is listed more than once gets the sum of its weights ("merge").
      (i, j) and (j, i) are the two directions of an edge, not duplicates.
    - ``self_loops``: (i, i) is dropped ("remove").
    - ``directed``: where the weights of (i, j) and (j, i) differ, both get the larger one ("symmetrise"), so that a graph listed
      in one direction becomes undirected ("warn" does the same with a ``DirectedGraphWarning``).
    - ``isolated``: nodes without an edge are kept and have an empty row ("allow"). Edges of weight 0 are no edges.

    Args:
        edge_index: 2 x E integers, tensor or array.
        edge_weight: E finite numbers >= 0 (or E x 1); all 1 by default.
        num_nodes: N; by default the largest index + 1.
    """
    owner = "adjacency"
    one_of(owner, "directed", directed, DIRECTED)
    one_of(owner, "self_loops", self_loops, ("remove", "refuse"))
    one_of(owner, "duplicates", duplicates, ("merge", "refuse"))
    one_of(owner, "isolated", isolated, ("allow", "refuse"))
    index = _checked_index(edge_index)
    nodes = int(index.max()) + 1 if index.size else 0
    if num_nodes is not None:
        integer(owner, "num_nodes", num_nodes, 0)
        if nodes > num_nodes:
            raise InputError(owner, "edge_index", f"below num_nodes = {num_nodes}", got=str(nodes - 1))
        nodes = num_nodes
    weight = _checked_weight(edge_weight, index.shape[1])

    matrix = scipy.sparse.coo_array((weight, (index[0], index[1])), shape=(nodes, nodes)).tocsr()
    repeated = index.shape[1] - matrix.nnz
    if duplicates == "refuse" and repeated:
        raise InputError(owner, "edge_index", "each edge once (duplicates='refuse')", got=f"{repeated} repetitions", verb="list")
    loops = index[0][index[0] == index[1]]
    if self_loops == "refuse" and loops.size:
        got = f"{loops.size}, the first at node {loops[0]}"
        raise InputError(owner, "edge_index", "no self loops (self_loops='refuse')", got=got, verb="have")
    if loops.size:
        matrix = matrix - scipy.sparse.diags_array(matrix.diagonal())
    matrix = scipy.sparse.csr_array(matrix)
    matrix.eliminate_zeros()
    # The larger of the two directions: an undirected graph keeps its weights, a directed one gets both directions.
    symmetric = scipy.sparse.csr_array(matrix.maximum(matrix.T))
    if directed == "warn" and (matrix.nnz != symmetric.nnz or (matrix.data != symmetric.data).any()):
        text = "The two directions of some edges differ: the larger weight is taken for both, so that the graph is undirected."
        warnings.warn(
            f'{text} Say directed="symmetrise" if that is meant, directed="refuse" if not.', DirectedGraphWarning, stacklevel=2
        )
    if directed == "refuse" and (symmetric != matrix).nnz:
        (i, *_), (j, *_) = (symmetric != matrix).nonzero()
        rule = "both directions of every edge with equal weights (directed='refuse')"
        raise InputError(owner, "edge_index", rule, got=f"({i}, {j}) and ({j}, {i}), which differ", verb="hold")
    empty = np.flatnonzero(np.diff(symmetric.indptr) == 0)
    if isolated == "refuse" and empty.size:
        got = f"{empty.size} isolated nodes, the first is {empty[0]}"
        raise InputError(owner, "every node", "an edge (isolated='refuse')", got=got, verb="have")
    return SparseOperator.from_scipy(symmetric, dtype=dtype, symmetric=True)


def _checked_index(edge_index: Any) -> npt.NDArray[np.int64]:
    """2 x E."""
    rule = "2 x E integers"
    if isinstance(edge_index, Tensor):
        if edge_index.layout != torch.strided:
            raise InputError("adjacency", "edge_index", rule, edge_index, "Pass a sparse tensor where a graph is asked for.")
        edge_index = edge_index.detach().cpu().numpy()
    try:
        index = np.asarray(edge_index)
    except ValueError:
        raise InputError("adjacency", "edge_index", rule, edge_index) from None
    if index.ndim != 2 or index.shape[0] != 2:
        raise InputError("adjacency", "edge_index", rule, index, "Transpose it?" if index.shape[1:] == (2,) else "")
    if index.size and not np.issubdtype(index.dtype, np.integer):
        raise InputError("adjacency", "edge_index", rule, got=f"dtype {index.dtype}")
    if index.size and index.min() < 0:
        raise InputError("adjacency", "edge_index", ">= 0", got=str(int(index.min())))
    return index.astype(np.int64, copy=False)


def _checked_weight(edge_weight: Any, edges: int) -> npt.NDArray[np.float64]:
    """E numbers."""
    if edge_weight is None:
        return np.ones(edges)
    rule = "finite numbers >= 0"
    if isinstance(edge_weight, Tensor):
        if edge_weight.requires_grad:
            hint = "Weights are constants here; pass edge_weight.detach()."
            raise InputError("adjacency", "edge_weight", "require a gradient", hint=hint, verb="not")
        edge_weight = edge_weight.cpu().numpy()
    try:
        weight = np.asarray(edge_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("adjacency", "edge_weight", rule, edge_weight) from None
    if weight.ndim == 2 and weight.shape[1] == 1:
        weight = weight[:, 0]
    if weight.shape != (edges,):
        rule = f"one number for each of the {edges} edges"
        raise InputError("adjacency", "edge_weight", rule, got=f"shape {weight.shape}", verb="have")
    bad = ~np.isfinite(weight) | (weight < 0)
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise InputError("adjacency", "edge_weight", rule, got=f"{weight[first]} at edge {first}")
    return weight

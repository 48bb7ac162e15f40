"""A graph as a scipy matrix, in and out."""

from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d.data.own_graph.arrays import ids_of
from chebnet2d.data.own_graph.assemble import make_features
from chebnet2d.data.own_graph.pyg_graph import from_pyg

_OWNER = "from_scipy"


def from_scipy(adjacency: Any, features: Any = "degree", labels: Any = None, *, ids: Any = None, **fields: Any) -> Data:
    """A ``Data`` from an N x N matrix of weights (0: no edge), features and labels; nodes keep their numbers.

    Args:
        features: an N x F matrix, dense or sparse; "degree" or "identity".
        labels: N words or integers; -1, "" and None mean no label.
        ids: N distinct integers or strings, with which predictions come back.
        fields: fields of ``ReadOptions``, such as ``preprocess``.
    """
    if not scipy.sparse.issparse(adjacency) or adjacency.shape[0] != adjacency.shape[1]:
        raise InputError(_OWNER, "adjacency", "an N x N scipy.sparse matrix", adjacency)
    matrix = scipy.sparse.coo_array(adjacency)
    nodes = int(matrix.shape[0])
    weight = np.asarray(matrix.data, dtype=np.float32)
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise InputError(_OWNER, "adjacency", "finite numbers >= 0", got="another", verb="hold")
    data = Data(edge_index=torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64)), num_nodes=nodes)
    if (weight != 1).any():
        data.edge_weight = torch.from_numpy(weight)
    if isinstance(features, str):
        data.x = make_features(features, data.edge_index, nodes)
    else:
        data.x = features
    data.y = labels
    data.node_ids = np.arange(nodes) if ids is None else ids_of(_OWNER, np.asarray(ids), nodes)
    return from_pyg(data, **fields)


def to_scipy(data: Any) -> Any:
    """The edges as an N x N CSR matrix of weights, as they are listed; the weights of repeated ones are added up."""
    weight = data.get("edge_weight")
    values = np.ones(data.edge_index.shape[1], dtype=np.float32) if weight is None else weight.numpy()
    row, col = data.edge_index.numpy()
    nodes = int(data.num_nodes)
    return scipy.sparse.csr_array(scipy.sparse.coo_array((values, (row, col)), shape=(nodes, nodes)))

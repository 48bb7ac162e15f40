"""What every ``Data`` of the package has in common."""

import torch
from torch_geometric.utils import is_undirected

from chebnet2d.data import num_classes


def assert_common_form(data):
    assert data.x.dtype == torch.float32
    assert data.edge_index.dtype == data.y.dtype == torch.int64
    assert data.validate(raise_on_error=True)
    assert is_undirected(data.edge_index, num_nodes=data.num_nodes)
    assert data.is_coalesced()
    assert not data.has_self_loops()
    assert int(data.y.max()) < data.num_classes == num_classes(data)
    assert data.x.shape == (data.num_nodes, data.num_features)
    assert data.metric in ("accuracy", "roc_auc")

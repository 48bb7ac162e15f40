"""Methods that are no polynomials of the graph: stacked training is looped training, and nothing of N x N is formed."""

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from chebnet2d.data import csbm, split
from chebnet2d.models import GCN, GCNII, LINKX, PDEGCN, GloGNN, NodeFormer
from chebnet2d.training import Run, Settings, fit_many
from oracle_vectors import assert_near

METHODS = {
    "gcn": (GCN, {}),
    "gcn with batch norm": (GCN, {"batch_norm": True, "num_layers": 3}),
    "gcnii": (GCNII, {"num_layers": 4}),
    "gcnii star": (GCNII, {"num_layers": 4, "star": True}),
    "linkx": (LINKX, {"num_nodes": 150, "adjacency_layers": 2}),
    "glognn small": (GloGNN, {"num_nodes": 150}),
    "glognn large": (GloGNN, {"num_nodes": 150, "form": "large"}),
    "pdegcn": (PDEGCN, {"num_layers": 3, "mix_per_layer": True}),
    "pdegcn tanh": (PDEGCN, {"num_layers": 3, "dynamics": "hyperbolic", "activation": "tanh"}),
    "nodeformer": (NodeFormer, {"gumbel_samples": 3, "num_heads": 2}),
    "nodeformer jk": (NodeFormer, {"gumbel_samples": 0, "relational_activation": "identity", "jumping_knowledge": True}),
}


@pytest.mark.parametrize("name", METHODS)
def test_stacked_training_is_looped_training(name):
    """Every run with its own masks, noise and running statistics, and all with the same dropout rate."""
    method, arguments = METHODS[name]
    data = csbm(150, 3, 8, seed=2)
    splits = [split(data, seed=seed) for seed in range(2)]

    def runs():
        return [
            Run(method(8, 3, hidden_channels=8, **arguments).double(), part, seed, Settings(epochs=6, lr=0.01 * (seed + 1)))
            for seed, part in enumerate(splits)
        ]

    stacked, looped = fit_many(runs(), data, width=2), fit_many(runs(), data, width=1)
    for one, other in zip(stacked, looped, strict=True):
        np.testing.assert_allclose(one.history.train_loss, other.history.train_loss, rtol=1e-8)
        np.testing.assert_allclose(one.history.val_loss, other.history.val_loss, rtol=1e-8)
        assert one.test["accuracy"] == other.test["accuracy"]
        for key, value in one.model.state_dict().items():
            assert_near(value, other.model.state_dict()[key], key, tolerance=1e-7)


class Largest(TorchDispatchMode):
    """The largest number of elements of any dense tensor that is made within."""

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided:
                self.numel = max(self.numel, tensor.numel())
        return out


@pytest.mark.parametrize("name", METHODS)
def test_nothing_of_size_n_by_n_is_formed(name):
    method, arguments = METHODS[name]
    nodes = 2000
    if "num_nodes" in arguments:
        arguments = {**arguments, "num_nodes": nodes}
    data = csbm(nodes, 3, 8, degree=4, seed=2)
    model = method(8, 3, hidden_channels=8, **arguments)
    out = model(data.x, data.edge_index)  # operators are built here
    with Largest() as largest:
        out = model(data.x, data.edge_index)
        (sum(part.sum() for part in out) if isinstance(out, tuple) else out.sum()).backward()
    # Edges of A + I: 5 a node; NodeFormer has heads x features numbers at each end of each.
    assert largest.numel <= 5 * 4 * 30 * nodes < nodes**2 / 3

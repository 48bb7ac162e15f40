"""Small models and variations of the graph for mini batches of nodes."""

import copy

import torch

import chebnet2d
from chebnet2d.models import GCN, LINKX, NodeFormer
from chebnet2d.training import Batches, Run
from chebnet2d.training.tasks.node_batches import NodeSource

NODES = 240


def task_of(model, data, split, size, seed=0, sampling=None):
    run = Run(model, split, seed)
    return NodeSource(data, Batches(size, sampling=sampling), [run], torch.device("cpu")).task([run])


def linkx(data, **options):
    return LINKX(data.num_features, 3, num_nodes=data.num_nodes, **{"hidden_channels": 12, **options})


def gcn(data, **options):
    return GCN(data.num_features, 3, **{"hidden_channels": 12, **options})


def nodeformer(data, **options):
    small = {"hidden_channels": 8, "num_heads": 1, "num_features": 10, "gumbel_samples": 2, "relational_order": 1}
    return NodeFormer(data.num_features, 3, **{**small, **options})


def with_weights(data):
    weighted = data.clone()
    low, high = data.edge_index.min(dim=0).values, data.edge_index.max(dim=0).values
    weighted.edge_weight = 0.5 + ((7 * low + 3 * high) % 10) / 10
    return weighted


def with_sparse_features(data):
    sparse = data.clone()
    sparse.x = (data.x * (data.x > 1.0)).to_sparse_csr()
    return sparse


def everywhere(data):
    """A split whose training part is the whole graph."""
    made = copy.copy(chebnet2d.data.split(data, "uniform", seed=0))
    object.__setattr__(made, "train", torch.arange(data.num_nodes))
    return made

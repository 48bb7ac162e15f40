"""LINKX: rows of A and features, embedded apart by MLPs and mixed."""

from typing import ClassVar

import torch
from torch import Tensor

from chebnet2d._checks import InputError, flag, integer
from chebnet2d.graph import Graph, SparseOperator, operator_of
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.registry import register
from chebnet2d.nn import MLP, Features, Linear, check_features


@register("linkx")
class LINKX(NodeClassifier):
    """hA = MLP_A(A), hX = MLP_X(x), Z = MLP_f(ReLU([hA, hX] W + b + hA + hX)) (Lim et al., NeurIPS 2021).

    The rows of A are features, so the model belongs to one graph: its first weights have a row for each node. A stays sparse.
    For some of the nodes alone, x has their rows and ``edge_index`` is a B x N ``SparseOperator`` with their rows of A.

    Args:
        hidden_channels: width of all layers.
        num_layers: linear layers of MLP_f.
        dropout: rate before each layer of MLP_f but the first; MLP_A and MLP_X have none.
        adjacency_layers: linear layers of MLP_A.
        feature_layers: linear layers of MLP_X.
        inner_activation: a ReLU on [hA, hX] W + b.
    """

    per_node: ClassVar[tuple[str, ...]] = ("adjacency_mlp.layers.0.weight",)
    batches: ClassVar[tuple[str, ...]] = ("rows",)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        num_nodes: int,
        hidden_channels: int = 64,
        num_layers: int = 2,
        dropout: float = 0.5,
        adjacency_layers: int = 1,
        feature_layers: int = 1,
        inner_activation: bool = False,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.num_nodes = integer("LINKX", "num_nodes", num_nodes, 1)
        self.inner_activation = flag("LINKX", "inner_activation", inner_activation)
        width = hidden_channels
        self.adjacency_mlp = MLP(num_nodes, width, width, adjacency_layers, 0.0, batch_norm=True)
        self.feature_mlp = MLP(in_channels, width, width, feature_layers, 0.0, batch_norm=True)
        self.mix = Linear(2 * width, width)
        self.final_mlp = MLP(width, width, out_channels, num_layers, dropout, input_dropout=0.0, batch_norm=True)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features("LINKX", x, self.in_channels)
        rows = isinstance(edge_index, SparseOperator) and edge_index.shape == (x.shape[0], self.num_nodes)
        if not rows:
            check_nodes("LINKX", x, self.num_nodes)
        of_features: Tensor = self.feature_mlp(x)
        if isinstance(edge_index, SparseOperator) and rows and edge_weight is None:
            adjacency = edge_index.to(dtype=of_features.dtype, device=of_features.device)
        else:
            adjacency = operator_of(edge_index, edge_weight, of_features, kind="A", owner="LINKX")
        of_links: Tensor = self.adjacency_mlp(adjacency)
        mixed = self.mix(torch.cat([of_links, of_features], dim=1))
        if self.inner_activation:
            mixed = mixed.relu()
        logits: Tensor = self.final_mlp((mixed + of_links + of_features).relu())
        return logits


def check_nodes(owner: str, x: Features, num_nodes: int) -> None:
    """For models whose weights have a row for each node."""
    if x.shape[0] != num_nodes:
        hint = "The rows of A are its input features: it serves the graph it was built for."
        raise InputError(owner, "x", f"num_nodes = {num_nodes} rows", got=str(x.shape[0]), hint=hint, verb="have")

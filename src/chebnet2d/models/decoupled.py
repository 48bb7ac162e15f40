"""The frame that most spectral methods share: an MLP on the features, then one filter on its output."""

from typing import ClassVar

from torch import Tensor, nn

from chebnet2d._checks import one_of
from chebnet2d.graph import Graph
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.nn import MLP, Dropout, Features, check_features

VARIANTS = ("faithful", "unified")
"""faithful: as the method's public code runs. unified: the MLP to C logits, then the method's convolution and nothing else."""


def check_variant(owner: str, variant: str) -> str:
    return one_of(owner, "variant", variant, VARIANTS)


class Decoupled(NodeClassifier):
    """Z = conv(dropout(h(X))). A subclass fills in ``mlp``, ``filter_dropout`` and ``conv`` by ``_frame``."""

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"filter": ("conv.",)}

    def _frame(self, mlp: nn.Module, filter_dropout: float, conv: nn.Module, in_channels: int) -> None:
        self.in_channels = in_channels
        self.mlp = mlp
        self.filter_dropout = Dropout(filter_dropout)
        self.conv = conv

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features(type(self).__name__, x, self.in_channels)
        hidden: Tensor = self.filter_dropout(self.mlp(x))
        logits: Tensor = self.conv(hidden, edge_index, edge_weight)
        return logits


def two_layer_mlp(in_channels: int, hidden_channels: int, out_channels: int, dropout: float, bias: bool = True) -> MLP:
    """dropout, Linear, ReLU, dropout, Linear: the MLP of the unified architecture."""
    return MLP(in_channels, hidden_channels, out_channels, 2, dropout, bias=bias)

"""Classic message passing with what makes it strong: residuals, normalisation, jumping knowledge, a linear head."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import flag, integer, one_of
from chebnet2d.graph import Graph, operator_of
from chebnet2d.models.gcn import GCNLayer
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.registry import register
from chebnet2d.nn import BatchNorm, Dropout, Features, Linear, check_features

NORMS = ("none", "batch", "layer")
JUMPING = ("none", "cat", "max")


class SAGELayer(nn.Module):
    """D^-1 A x W + x U + b. The map comes before the mean, so that sparse x stays sparse."""

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True) -> None:
        super().__init__()
        self.neighbours = Linear(in_channels, out_channels, bias=False)
        self.own = Linear(in_channels, out_channels, bias=bias)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        mapped: Tensor = self.neighbours(x)
        operator = operator_of(edge_index, edge_weight, mapped, kind="D^-1 A", owner="TunedSAGE")
        return operator @ mapped + self.own(x)


class TunedGNN(NodeClassifier):
    """Layers, each with a residual, a normalisation, ReLU and dropout; then a linear map (Luo, Shi, Wu, NeurIPS 2024).

    Args:
        hidden_channels: width of all layers.
        num_layers: number of convolutions.
        dropout: rate after each ReLU; the features have none.
        norm: "none", "batch" (over the nodes) or "layer" (over the channels), before each ReLU.
        residual: add a linear map of a layer's input to its output.
        jumping: what the last map sees: the last layer ("none"), all of them side by side ("cat") or their maximum ("max").
        pre_linear: a linear layer, with dropout, before the first convolution.
    """

    batches: ClassVar[tuple[str, ...]] = ("induced", "induced-train", "neighbours")
    layer: ClassVar[type[GCNLayer] | type[SAGELayer]]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        num_layers: int = 2,
        dropout: float = 0.5,
        norm: str = "none",
        residual: bool = False,
        jumping: str = "none",
        pre_linear: bool = False,
    ) -> None:
        super().__init__()
        owner, width = type(self).__name__, hidden_channels
        self.in_channels = in_channels
        integer(owner, "num_layers", num_layers, 1)
        one_of(owner, "norm", norm, NORMS)
        self.jumping = one_of(owner, "jumping", jumping, JUMPING)
        self.first = Linear(in_channels, width) if flag(owner, "pre_linear", pre_linear) else None
        sizes = [width if pre_linear else in_channels, *[width] * (num_layers - 1)]
        # A bias before batch normalisation has no gradient but rounding, and Adam would scale that up.
        self.layers = nn.ModuleList(self.layer(size, width, bias=norm != "batch") for size in sizes)
        self.residuals = nn.ModuleList()
        if flag(owner, "residual", residual):
            self.residuals.extend(Linear(size, width, bias=False) for size in sizes)
        self.norms = nn.ModuleList()
        if norm != "none":
            self.norms.extend(BatchNorm(width) if norm == "batch" else nn.LayerNorm(width) for _ in sizes)
        self.last = Linear(width * num_layers if jumping == "cat" else width, out_channels)
        self.dropout = Dropout(dropout)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features(type(self).__name__, x, self.in_channels)
        hidden: Features = x if self.first is None else self.dropout(self.first(x))
        outputs: list[Tensor] = []
        for i, layer in enumerate(self.layers):
            out: Tensor = layer(hidden, edge_index, edge_weight)
            if self.residuals:
                out = out + self.residuals[i](hidden)
            if self.norms:
                out = self.norms[i](out)
            hidden = self.dropout.after_relu(out)
            outputs.append(hidden)
        if self.jumping == "max":
            outputs = [torch.stack(outputs).amax(dim=0)]
        logits: Tensor = self.last(torch.cat(outputs, dim=1) if self.jumping == "cat" else outputs[-1])
        return logits


@register("tuned-gcn")
class TunedGCN(TunedGNN):
    """``TunedGNN`` with GCN's convolution P~ H W + b."""

    layer = GCNLayer


@register("tuned-sage")
class TunedSAGE(TunedGNN):
    """``TunedGNN`` with GraphSAGE's D^-1 A H W + H U + b: a map of the mean of all neighbours, and one of the node itself."""

    layer = SAGELayer

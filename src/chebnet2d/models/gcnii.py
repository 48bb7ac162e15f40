"""GCNII: deep graph convolutions with a residual to the first layer and maps near the identity."""

import math
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import flag, integer, real
from chebnet2d.graph import Graph, SparseOperator, operator_of
from chebnet2d.kernels.residual_layers import residual_layers
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features, Linear, check_features


@register("gcnii")
class GCNII(NodeClassifier):
    """H_0 = ReLU(x W + b), then layers l = 1, 2, ...: H <- ReLU(S ((1 - t) I + t W_l)), S = (1 - alpha) P~ H + alpha H_0.

    t = log(lamda / l + 1) (Chen et al., ICML 2020). The maps W_l are the optimiser group "conv"; the first and last linear
    layers are "weights".

    Args:
        hidden_channels: width of all layers.
        num_layers: number of convolutions.
        alpha: part of H_0 in each layer.
        lamda: how far the maps are from the identity.
        dropout: rate before every linear layer and every convolution.
        star: GCNII*, where W_l (2H x H) acts on [P~ H, H_0] without the factors 1 - alpha and alpha.
    """

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"conv": ("layers.",)}

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        num_layers: int = 16,
        alpha: float = 0.2,
        lamda: float = 0.5,
        dropout: float = 0.5,
        star: bool = False,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        integer("GCNII", "num_layers", num_layers, 1)
        real("GCNII", "lamda", lamda, 0)
        self.first = Linear(in_channels, hidden_channels)
        self.layers = nn.ModuleList(
            GCNIILayer(hidden_channels, alpha, math.log(lamda / number + 1), star) for number in range(1, num_layers + 1)
        )
        self.last = Linear(hidden_channels, out_channels)
        self.dropout = Dropout(dropout)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features("GCNII", x, self.in_channels)
        start: Tensor = self.first(x, self.dropout).relu()
        operator = operator_of(edge_index, edge_weight, start, kind="P~", owner="GCNII")
        hidden: Tensor = self.dropout(start)
        layers: list[Any] = list(self.layers)
        if operator.symmetric and not layers[0].star and start.device.type == "cpu":
            maps = torch.stack([layer.map() for layer in layers])
            p = self.dropout.p if self.training else torch.zeros_like(self.dropout.p)
            hidden = self.dropout(residual_layers(operator, hidden, start, maps, p, layers[0].alpha))
        else:
            for layer in layers:
                hidden = self.dropout.after_relu(layer(hidden, start, operator))
        logits: Tensor = self.last(hidden)
        return logits


class GCNIILayer(nn.Module):
    """One convolution without its ReLU; ``strength`` is t in the formula of ``GCNII``."""

    def __init__(self, channels: int, alpha: float, strength: float, star: bool = False) -> None:
        super().__init__()
        self.alpha = real("GCNII", "alpha", alpha, 0, 1)
        self.strength = strength
        self.star = flag("GCNII", "star", star)
        self.weight = nn.Parameter(torch.empty(2 * channels if star else channels, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.weight.shape[1])
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, hidden: Tensor, start: Tensor, operator: SparseOperator) -> Tensor:
        channels, alpha, t = self.weight.shape[1], self.alpha, self.strength
        propagated = operator @ hidden
        if self.star:
            identity = torch.eye(channels, dtype=hidden.dtype, device=hidden.device)
            # The skip joins the map: H x H sums instead of N x H ones, and nothing of size N is kept for them.
            of_propagated = t * self.weight[:channels] + (1 - t) * (1 - alpha) * identity
            of_start = t * self.weight[channels:] + (1 - t) * alpha * identity
            return propagated @ of_propagated + start @ of_start
        return ((1 - alpha) * propagated + alpha * start) @ self.map()

    def map(self) -> Tensor:
        """t W + (1 - t) I."""
        identity = torch.eye(self.weight.shape[1], dtype=self.weight.dtype, device=self.weight.device)
        return self.strength * self.weight + (1 - self.strength) * identity

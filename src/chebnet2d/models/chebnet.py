"""ChebNet: layers of Chebyshev convolutions with a map between channels for every degree."""

import itertools
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import integer
from chebnet2d.conv import SpectralConv
from chebnet2d.graph import Graph, operator_of
from chebnet2d.models.decoupled import Decoupled, Sizes
from chebnet2d.models.project_first import project_first
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features
from chebnet2d.nn.features import pattern_of
from chebnet2d.polynomials import Chebyshev


class ChebLayer(nn.Module):
    """sum_{k < terms} T_k(L_hat) X W_k + b, maps first: X may be sparse and wide."""

    def __init__(self, in_channels: int, out_channels: int, terms: int) -> None:
        super().__init__()
        integer("ChebNet", "terms", terms, 1)
        self.weight = nn.Parameter(torch.empty(terms, in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot for the map of each degree, zero bias."""
        for weight in self.weight:
            nn.init.xavier_uniform_(weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        operator = operator_of(edge_index, edge_weight, pattern_of(x), kind="L_hat", owner="ChebNet")
        return project_first(operator, x, lambda k: self.weight[k], self.weight.shape[0] - 1, Chebyshev()) + self.bias


@register("chebnet")
class ChebNet(Decoupled):
    """Two Chebyshev convolutions with a ReLU between (Defferrard et al. 2016), as other papers run it as a baseline.

    Args:
        terms: Chebyshev terms of each layer: the degree is terms - 1. Repositories differ: GPRGNN and BernNet use 2 terms and
            32 hidden units, ChebNetII uses 11.
        dropout: between the layers (faithful), before each linear layer of the MLP (unified).
        variant: "faithful", or "unified": the MLP to C logits, then one Chebyshev convolution without bias.
    """

    maps_channels: ClassVar[bool] = True
    degree_argument: ClassVar[tuple[str, int] | None] = ("terms", 1)

    defaults: ClassVar[dict[str, Any]] = {"hidden_channels": 32}

    @staticmethod
    def convolution(in_channels: int, out_channels: int, terms: int = 2) -> SpectralConv:
        """Of the unified form."""
        return SpectralConv(in_channels, out_channels, integer("ChebNet", "terms", terms, 1) - 1, paradigm="2d")

    def _assemble_faithful(self, sizes: Sizes, dropout: float, filter_dropout: float, **options: Any) -> None:
        self.layers = nn.ModuleList(ChebLayer(inputs, outputs, **options) for inputs, outputs in itertools.pairwise(sizes))
        self.dropout = Dropout(dropout)

    def _faithful(self, x: Features, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        hidden: Tensor = self.layers[0](x, edge_index, edge_weight)
        logits: Tensor = self.layers[1](self.dropout(hidden.relu()), edge_index, edge_weight)
        return logits

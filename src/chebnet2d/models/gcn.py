"""GCN: propagate with P~, map, ReLU; repeat."""

import itertools
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import flag, integer
from chebnet2d.graph import Graph, SparseOperator, operator_of, remembered
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.registry import register
from chebnet2d.nn import BatchNorm, Dropout, Features, check_features


@register("gcn")
class GCN(NodeClassifier):
    """H <- ReLU(P~ H W_l + b_l), the last layer without ReLU (Kipf and Welling, ICLR 2017).

    Args:
        hidden_channels: width of all layers but the last.
        num_layers: number of layers.
        dropout: rate before each layer but the first.
        batch_norm: batch normalisation between each hidden layer and its ReLU, as on large graphs.
    """

    batches: ClassVar[tuple[str, ...]] = ("induced", "induced-train", "neighbours")

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        num_layers: int = 2,
        dropout: float = 0.5,
        batch_norm: bool = False,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        integer("GCN", "num_layers", num_layers, 1)
        sizes = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        flag("GCN", "batch_norm", batch_norm)
        self.layers = nn.ModuleList(
            # A bias before batch normalisation has no gradient but rounding, and Adam would scale that up.
            GCNLayer(a, b, bias=not batch_norm or number == num_layers)
            for number, (a, b) in enumerate(itertools.pairwise(sizes), start=1)
        )
        self.norms = nn.ModuleList()
        if batch_norm:
            self.norms.extend(BatchNorm(hidden_channels) for _ in range(num_layers - 1))
        self.dropout = Dropout(dropout)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features("GCN", x, self.in_channels)
        first: Any = self.layers[0]
        if isinstance(x, Tensor) and self.in_channels < first.weight.shape[1]:
            # The graph is multiplied with F columns instead of H, once for all epochs, and the gradient does not pass it.
            operator = operator_of(edge_index, edge_weight, x, kind="P~", owner="GCN")
            hidden: Tensor = first.mapped(propagated(operator, x))
        else:
            hidden = first(x, edge_index, edge_weight)
        for i, layer in enumerate(self.layers[1:]):
            if self.norms:
                hidden = self.norms[i](hidden)
            hidden = layer(self.dropout.after_relu(hidden), edge_index, edge_weight)
        return hidden


class GCNLayer(nn.Module):
    """P~ x W + b. The bias is added after propagation."""

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True) -> None:
        super().__init__()
        integer("GCNLayer", "in_channels", in_channels, 1)
        integer("GCNLayer", "out_channels", out_channels, 1)
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot's uniform weights and no bias, as torch_geometric's ``GCNConv``."""
        nn.init.xavier_uniform_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        mapped = x @ self.weight
        operator: SparseOperator = operator_of(edge_index, edge_weight, mapped, kind="P~", owner="GCN")
        out = operator @ mapped
        return out if self.bias is None else out + self.bias

    def mapped(self, propagated: Tensor) -> Tensor:
        """The same of P~ x."""
        out = propagated @ self.weight
        return out if self.bias is None else out + self.bias


def propagated(operator: SparseOperator, x: Tensor) -> Tensor:
    """operator @ x, kept for the next call with the same, unwritten x where no gradient passes."""
    if x.requires_grad or torch.is_inference_mode_enabled():
        return operator @ x
    return remembered(operator, "of features", lambda: operator @ x, x)

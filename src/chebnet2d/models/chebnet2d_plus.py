"""ChebNet2D with what other methods have: rows of A, known labels, a wider MLP with normalisation and residuals."""

import itertools
import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import flag, integer, one_of
from chebnet2d.conv import ChebConv2D
from chebnet2d.graph import Graph, SparseOperator, operator_of
from chebnet2d.models.label_channels import LabelChannels
from chebnet2d.models.linkx import check_nodes
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.registry import register
from chebnet2d.models.tuned_gnn import NORMS
from chebnet2d.nn import BatchNorm, Dropout, Features, Linear, check_features


@register("chebnet2d-plus")
class ChebNet2DPlus(NodeClassifier):
    """Z = sum_d T_d(L_hat) [h(X), Y] W_d, with the first layer of h at X W + b + g A V and Y the labels that are known.

    Every option can be switched off; without all of them it is ``ChebNet2D``. Rows of A and labels bind it to one graph.

    Args:
        hidden_channels: width of the MLP h.
        degree: D of the polynomial filters.
        dropout: rate before each linear layer.
        filter_dropout: rate between h and the convolution.
        num_layers: linear layers of h.
        norm: "none", "batch" (over the nodes) or "layer" (over the channels), before each ReLU.
        residual: add the input of each hidden layer to its output.
        rows: rows of the adjacency matrix as further features, as in LINKX; the gate g, one learned number, starts at 0.
        labels: C channels with the labels of training nodes, see ``LabelChannels``.
        hidden_labels: the part of these that is hidden, and learned from, in each epoch.
        scaling, init: see ``ChebNet2D``.
    """

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"filter": ("conv.",)}
    per_node: ClassVar[tuple[str, ...]] = ("rows.weight", "labels.known")
    known_labels: ClassVar[tuple[str, ...]] = ("labels.known",)
    batches: ClassVar[tuple[str, ...]] = ()
    varies_in_stack = frozenset({"dropout", "filter_dropout", "init", "scaling", "hidden_labels"})

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        num_nodes: int,
        hidden_channels: int = 256,
        degree: int = 10,
        dropout: float = 0.5,
        filter_dropout: float = 0.0,
        num_layers: int = 3,
        norm: str = "layer",
        residual: bool = True,
        rows: bool = True,
        labels: bool = True,
        hidden_labels: float = 0.5,
        scaling: str = "interpolation",
        init: str = "identity",
    ) -> None:
        super().__init__()
        owner, classes = "ChebNet2DPlus", out_channels
        self.in_channels = in_channels
        integer(owner, "num_layers", num_layers, 1)
        one_of(owner, "norm", norm, NORMS)
        self.residual = flag(owner, "residual", residual)
        sizes = [in_channels, *[hidden_channels] * (num_layers - 1), classes]
        # A bias before batch normalisation has no gradient but rounding, and Adam would scale that up.
        self.layers = nn.ModuleList(
            Linear(a, b, bias=norm != "batch" or number == num_layers)
            for number, (a, b) in enumerate(itertools.pairwise(sizes), start=1)
        )
        self.norms = nn.ModuleList()
        if norm != "none":
            kind = BatchNorm if norm == "batch" else nn.LayerNorm
            self.norms.extend(kind(hidden_channels) for _ in range(num_layers - 1))
        self.rows = GatedRows(num_nodes, sizes[1]) if flag(owner, "rows", rows) else None
        self.labels = LabelChannels(owner, num_nodes, classes, hidden_labels) if flag(owner, "labels", labels) else None
        self.dropout, self.filter_dropout = Dropout(dropout), Dropout(filter_dropout)
        self.conv = ChebConv2D(classes * (2 if labels else 1), classes, degree, scaling=scaling, init=init)

    def take_labels(self, labels: Tensor) -> None:
        if self.labels is not None:
            self.labels.known.copy_(labels)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features("ChebNet2DPlus", x, self.in_channels)
        hidden: Tensor = self.layers[0](x, self.dropout)
        if self.rows is not None:
            check_nodes("ChebNet2DPlus", x, self.rows.weight.shape[0])
            hidden = hidden + self.rows(operator_of(edge_index, edge_weight, hidden, kind="A", owner="ChebNet2DPlus"))
        for i, layer in enumerate(self.layers[1:]):
            mapped = layer(self.dropout.after_relu(self.norms[i](hidden) if self.norms else hidden))
            hidden = hidden + mapped if self.residual and i < len(self.layers) - 2 else mapped
        signal: Tensor = self.filter_dropout(hidden)
        if self.labels is None:
            logits: Tensor = self.conv(signal, edge_index, edge_weight)
            return logits
        channels, shown = self.labels(signal)
        return self.labels.hide_shown(self.conv(torch.cat([signal, channels], dim=1), edge_index, edge_weight), shown)


class GatedRows(nn.Module):
    """g A V: a learned vector for each node, summed over neighbours, behind a gate that starts closed."""

    def __init__(self, num_nodes: int, out_channels: int) -> None:
        super().__init__()
        integer("ChebNet2DPlus", "num_nodes", num_nodes, 1)
        self.weight = nn.Parameter(torch.empty(num_nodes, out_channels))
        self.gate = nn.Parameter(torch.empty(1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """V as the first layer of LINKX has it."""
        bound = 1 / math.sqrt(self.weight.shape[0])
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.zeros_(self.gate)

    def forward(self, adjacency: SparseOperator) -> Tensor:
        return self.gate * (adjacency @ self.weight)

"""GloGNN++: each layer mixes nodes by the minimiser of a least-squares problem, without forming its N x N matrix."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, integer, one_of, real
from chebnet2d.graph import Graph, SparseOperator, operator_of
from chebnet2d.models.linkx import check_nodes
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.registry import register
from chebnet2d.nn import Dropout, Features, Linear, check_features


@register("glognn")
class GloGNN(NodeClassifier):
    """H_0 = MLP of features and rows of B; each layer H <- (1 - gamma) Z H diag(l) + gamma H_0 (Li et al., ICML 2022).

    Z minimises |(H - gamma H_0) diag(l) - (1 - gamma) Z H|^2 + alpha |Z|^2 + beta |Z - sum_k w_k B^k|^2, a dense N x N
    matrix of which only products with C columns are ever needed. The model belongs to one graph: the map of B's rows has a
    row for each node.

    Args:
        hidden_channels: width of the MLP.
        num_layers: how many times the nodes are mixed.
        orders: largest k.
        alpha, beta, gamma: as above; gamma in [0, 1], alpha + beta > 0.
        delta: part of the features in the first layer; the rest comes from the rows of B.
        dropout: rate before each linear layer but the first.
        form: "small" (B = D~^-1 (A + I), a two-layer MLP) or "large" (B = A, a three-layer MLP).
    """

    per_node: ClassVar[tuple[str, ...]] = ("of_links.weight",)
    batches: ClassVar[tuple[str, ...]] = ()  # H^T H runs over all nodes

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        num_nodes: int,
        hidden_channels: int = 64,
        num_layers: int = 2,
        orders: int = 3,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma: float = 0.5,
        delta: float = 0.5,
        dropout: float = 0.5,
        form: str = "small",
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.num_nodes = integer("GloGNN", "num_nodes", num_nodes, 1)
        self.num_layers = integer("GloGNN", "num_layers", num_layers, 1)
        self.delta = real("GloGNN", "delta", delta, 0, 1)
        self.large = one_of("GloGNN", "form", form, ("small", "large")) == "large"
        self.of_features = Linear(in_channels, hidden_channels)
        self.of_links = Linear(num_nodes, hidden_channels)
        self.middle = Linear(hidden_channels, hidden_channels) if self.large else None
        self.last = Linear(hidden_channels, out_channels)
        self.mixing = GlobalMixing(out_channels, orders, alpha, beta, gamma)
        self.dropout = Dropout(dropout)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features("GloGNN", x, self.in_channels)
        check_nodes("GloGNN", x, self.num_nodes)
        like = self.last.weight.new_empty(self.num_nodes, 0)
        operator = operator_of(edge_index, edge_weight, like, kind="A" if self.large else "D~^-1 A~", owner="GloGNN")
        # A part of weight 0 is not computed: the published settings have delta = 0 and 1, and B may be large.
        if self.delta == 1:
            hidden = self.of_features(x)
        elif self.delta == 0:
            hidden = self.of_links(operator)
        else:
            hidden = self.delta * self.of_features(x) + (1 - self.delta) * self.of_links(operator)
        hidden = self.dropout(hidden.relu())
        if self.middle is not None:
            hidden = self.dropout(self.middle(hidden).relu())
        start: Tensor = self.last(hidden)
        out = start
        for _ in range(self.num_layers):
            out = self.mixing(out, start, operator)
        return out


class GlobalMixing(nn.Module):
    """H <- (1 - gamma) Z H diag(l) + gamma H_0 with the minimising Z; every layer of a model shares l and w."""

    def __init__(self, channels: int, orders: int, alpha: float, beta: float, gamma: float) -> None:
        super().__init__()
        owner = "GloGNN"
        integer(owner, "orders", orders, 1)
        self.alpha = real(owner, "alpha", alpha, 0)
        self.beta = real(owner, "beta", beta, 0)
        self.gamma = real(owner, "gamma", gamma, 0, 1)
        if self.alpha + self.beta == 0:
            raise InputError("GloGNN", "alpha + beta", "> 0", got="0: the minimiser would not be unique")
        self.channel_weight = nn.Parameter(torch.empty(channels))
        self.order_weight = nn.Parameter(torch.empty(orders))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for weight in (self.channel_weight, self.order_weight):
            nn.init.constant_(weight, 1 / weight.numel())

    def forward(self, hidden: Tensor, start: Tensor, operator: SparseOperator) -> Tensor:
        g, scale = 1 - self.gamma, self.alpha + self.beta
        channels = hidden.shape[1]
        identity = torch.eye(channels, dtype=hidden.dtype, device=hidden.device)
        # ((alpha + beta) I_N + g^2 H H^T)^-1 H = H ((alpha + beta) I_C + g^2 H^T H)^-1: an inverse of size C.
        inverse = torch.linalg.inv(identity + (g * g / scale) * (hidden.T @ hidden))
        solved = (g / scale) * (hidden @ (inverse * self.channel_weight))
        out = g * (hidden - self.gamma * start) @ (self.channel_weight.unsqueeze(1) * (hidden.T @ solved)) + self.gamma * start
        power = solved
        for k in range(self.order_weight.numel()):
            power = operator @ power
            out = out + self.beta * self.order_weight[k] * power
        return out

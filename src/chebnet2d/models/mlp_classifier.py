"""MLP: what the features tell without the graph."""

from typing import ClassVar

from torch import Tensor

from chebnet2d.conv import FixedFilter, PolynomialConv
from chebnet2d.graph import Graph
from chebnet2d.models.decoupled import Decoupled, Sizes
from chebnet2d.models.registry import register
from chebnet2d.nn import MLP, Features


@register("mlp")
class MLPClassifier(Decoupled):
    """Z = ReLU(X W1 + b1) W2 + b2, with dropout before each layer. The graph is not looked at."""

    batches: ClassVar[tuple[str, ...]] = ("rows",)
    groups: ClassVar[dict[str, tuple[str, ...]]] = {}
    degree_argument: ClassVar[tuple[str, int] | None] = None

    left_out = frozenset({"filter_dropout", "variant"})

    def _build(self, sizes: Sizes, *, dropout: float = 0.5, num_layers: int = 2) -> None:  # type: ignore[override]
        in_channels, hidden_channels, out_channels = sizes
        self.in_channels = in_channels
        self.mlp = MLP(in_channels, hidden_channels, out_channels, num_layers, dropout)

    @staticmethod
    def convolution(in_channels: int, out_channels: int) -> FixedFilter:
        """The constant 1: for bases of any operator, of which only P_0 = X is read."""
        return FixedFilter([1.0])

    def own_filter(self) -> PolynomialConv:
        return self.convolution(1, 1).to(next(self.parameters()).dtype)

    def signal(self, x: Features) -> Tensor:
        hidden: Tensor = self.mlp(x)
        return hidden

    def _unified(self, x: Features, edge_index: Graph, edge_weight: Tensor | None) -> Tensor:
        logits: Tensor = self.mlp(x)
        return logits

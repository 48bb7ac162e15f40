"""MLP: what the features tell without the graph."""

from typing import ClassVar

from torch import Tensor

from chebnet2d.conv import FixedFilter
from chebnet2d.graph import Graph
from chebnet2d.models.decoupled import Decoupled
from chebnet2d.models.info import MethodInfo
from chebnet2d.models.registry import register
from chebnet2d.nn import MLP, Features, check_features


@register("mlp")
class MLPClassifier(Decoupled):
    """Z = ReLU(X W1 + b1) W2 + b2, with dropout before each layer. The graph is not looked at."""

    batches: ClassVar[tuple[str, ...]] = ("rows",)
    groups: ClassVar[dict[str, tuple[str, ...]]] = {}
    degree_argument: ClassVar[tuple[str, int] | None] = None
    info: ClassVar[MethodInfo] = MethodInfo(
        title="MLP",
        paradigm="-",
        basis="none",
        formula="""Z = ReLU(X W1 + b1) W2 + b2
X: N x F features. W1: F x H, W2: H x C. The graph is not used.""",
        citation="Rumelhart, Hinton, Williams: Learning representations by back-propagating errors. Nature 323, 1986",
    )

    def __init__(
        self, in_channels: int, out_channels: int, hidden_channels: int = 64, dropout: float = 0.5, num_layers: int = 2
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.mlp = MLP(in_channels, hidden_channels, out_channels, num_layers, dropout)

    @staticmethod
    def convolution(in_channels: int, out_channels: int) -> FixedFilter:
        """The constant 1: for bases of any operator, of which only P_0 = X is read."""
        return FixedFilter([1.0])

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features("MLPClassifier", x, self.in_channels)
        logits: Tensor = self.mlp(x)
        return logits

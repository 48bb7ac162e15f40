"""The frame that most spectral methods share: an MLP on the features, then one convolution on its output."""

from typing import Any, ClassVar

from torch import Tensor, nn

from chebnet2d._checks import one_of
from chebnet2d.conv import PolynomialConv
from chebnet2d.graph import Graph
from chebnet2d.models.node_classifier import NodeClassifier
from chebnet2d.models.registry import VARIANTS
from chebnet2d.nn import MLP, Dropout, Features, check_features


def check_variant(owner: str, variant: str) -> str:
    return one_of(owner, "variant", variant, VARIANTS)


class Decoupled(NodeClassifier):
    """Z = conv(dropout(h(X))). A subclass states its convolution once, and that serves its published form, the unified
    architecture (``_assemble_unified``) and bases on disk (``chebnet2d.models.on_bases``).

    ``maps_channels``: whether the convolution may have more or fewer outputs than inputs.
    ``degree_argument``: the option of ``convolution`` that sets the degree of the polynomial, and how much larger it is than the
    degree; None where the degree follows from other options.
    """

    groups: ClassVar[dict[str, tuple[str, ...]]] = {"filter": ("conv.",)}
    maps_channels: ClassVar[bool] = False
    degree_argument: ClassVar[tuple[str, int] | None] = ("degree", 0)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, *args: Any, **options: Any) -> PolynomialConv:
        """The method's convolution. Options are arguments of the constructor, with the same defaults."""
        raise NotImplementedError

    def _assemble(self, mlp: nn.Module, filter_dropout: float, conv: PolynomialConv, in_channels: int) -> None:
        self.in_channels = in_channels
        self.mlp = mlp
        self.filter_dropout = Dropout(filter_dropout)
        self.conv = conv

    def _assemble_unified(
        self, sizes: tuple[int, int, int], dropout: float, filter_dropout: float, *, bias: bool = True, **options: Any
    ) -> None:
        """The MLP of two layers from F over H (``sizes``) to C channels, then the convolution on them and nothing else."""
        in_channels, hidden_channels, out_channels = sizes
        conv = self.convolution(out_channels, out_channels, **options)
        mlp = MLP(in_channels, hidden_channels, out_channels, 2, dropout, bias=bias)
        self._assemble(mlp, filter_dropout, conv, in_channels)

    def forward(self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        check_features(type(self).__name__, x, self.in_channels)
        hidden: Tensor = self.filter_dropout(self.mlp(x))
        logits: Tensor = self.conv(hidden, edge_index, edge_weight)
        return logits
